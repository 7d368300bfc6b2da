// Notes and award emoji on issues, snippets and notes.
import { createNote } from '../../../../src/areas/planning/discussion/notes.js'
import { findProject } from '../../../../src/areas/projects/projects/projects.queries.js'
import { loadConfig, publicUrl } from '../../../../src/config.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { Hook } from '../../../../src/db/models/index.js'
import { DEVELOPER, GUEST } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { testDatabase } from '../../../helpers/database.js'
import { actorOf, type TestProject } from '../../../helpers/factory.js'
import t, { type Test } from '../../../helpers/tap.js'
import { receiver } from '../../../webhooks/receiver.js'
import { makeSnippet } from '../../projects/snippets/make-snippets.js'
import { makeIssue } from './make-discussion.js'

await testDatabase()
process.env.GITSTEAD_HOOKS_ALLOW = '127.0.0.1'
loadConfig({ port: 0 })
const app = await testApp(t)

async function subject(values: { visibility_level?: 0 | 20 } = {}) {
  const project = await app.make.project({ snippets_enabled: true, ...values })
  const owner = app.as(project.owner)
  const issue = (await owner.post(`/projects/${project.id}/issues`, { title: 'One' })).json()
  return { project, owner, issue, path: `/projects/${project.id}/issues/${issue.id}` }
}

t.test('a note is written, read, changed, listed, counted and removed', async t => {
  const { project, owner, issue, path } = await subject()
  const created = await owner.post(`${path}/notes`, { body: 'Well *done*' })
  t.equal(created.statusCode, 201)
  const { id, created_at } = created.json()
  t.same(created.json(), {
    id,
    body: 'Well *done*',
    attachment: null,
    author: issue.author,
    created_at,
    updated_at: created_at,
    system: false,
    upvote: false,
    downvote: false,
    noteable_id: issue.id,
    noteable_type: 'Issue'
  })
  t.same((await owner.get(`${path}/notes/${id}`)).json(), created.json())
  const second = (await owner.post(`${path}/notes`, { body: 'And more' })).json()
  const list = await owner.get(`${path}/notes`)
  t.same(list.json(), [created.json(), second])
  t.equal(list.headers['x-total'], '2')
  const shown = (await owner.get(path)).json()
  t.equal(shown.user_notes_count, 2)
  t.ok(shown.updated_at >= second.created_at, 'a note changes the time of the issue')
  const changed = await owner.put(`${path}/notes/${id}`, { body: 'Well' })
  t.match(changed.json(), { id, body: 'Well', created_at })
  t.same((await owner.delete(`${path}/notes/${id}`)).json(), changed.json())
  t.same((await owner.delete(`${path}/notes/${id}`)).json(), { message: '404 Note Not Found' })
  t.equal((await owner.get(path)).json().user_notes_count, 1)
  const other = await subject()
  t.equal((await other.owner.get(`${other.path}/notes/${second.id}`)).statusCode, 404)
  t.equal((await owner.get(`/projects/${project.id}/issues/${other.issue.id}/notes`)).statusCode, 404)
})

t.test('only readers of the issue can read notes, and only authors and masters can change them', async t => {
  const { project, owner, path } = await subject({ visibility_level: 20 })
  const [stranger, guest] = [app.as(await app.make.user()), app.as(await app.make.member(project, GUEST))]
  const { id } = (await stranger.post(`${path}/notes`, { body: 'Hello' })).json()
  t.equal((await guest.put(`${path}/notes/${id}`, { body: 'x' })).statusCode, 403)
  t.equal((await guest.delete(`${path}/notes/${id}`)).statusCode, 403)
  t.equal((await stranger.put(`${path}/notes/${id}`, { body: 'Hi' })).statusCode, 200)
  await owner.put(path, { confidential: true })
  t.same((await guest.get(`${path}/notes`)).json(), { message: '404 Notes Not Found' })
  for (const ask of [guest.get(`${path}/notes/${id}`), stranger.put(`${path}/notes/${id}`, { body: 'x' })]) {
    t.same((await ask).json(), { message: '404 Note Not Found' })
  }
  t.same((await guest.post(`${path}/notes`, { body: 'x' })).json(), { message: '404 Note Not Found' })
  t.same((await guest.post(`${path}/award_emoji`, { name: 'tada' })).json(), { message: '404 Award Emoji Not Found' })
  await execute('update projects set issues_enabled = 0 where id = ?', [project.id])
  t.equal((await owner.get(`${path}/notes`)).statusCode, 404)
})

t.test('invalid texts and times', async t => {
  const { project, owner, path } = await subject()
  const post = (body: object) => owner.post(`${path}/notes`, body)
  t.match((await post({})).json(), { error: 'body is missing' })
  t.match((await post({ body: ' \n' })).json(), { message: { note: ["can't be blank"] } })
  t.match((await post({ body: 'x'.repeat(262_145) })).json(), { message: { note: [/maximum is 262144 characters/] } })
  t.match((await post({ body: 'x', created_at: 'never' })).json(), { error: 'created_at is invalid' })
  const time = '2016-04-05T22:10:44.164Z'
  t.equal((await post({ body: 'x', created_at: time })).json().created_at, time)
  const guest = app.as(await app.make.member(project, GUEST))
  const ignored = await guest.post(`${path}/notes`, { body: 'x', created_at: time })
  t.equal(ignored.statusCode, 201)
  t.not(ignored.json().created_at, time)
})

t.test('awards', async t => {
  const { project, owner, issue, path } = await subject()
  const guest = app.as(await app.make.member(project, GUEST))
  const awards = `${path}/award_emoji`
  const created = await guest.post(awards, { name: '+1' })
  t.equal(created.statusCode, 201)
  const { id, created_at } = created.json()
  t.match(created.json(), { name: 'thumbsup', updated_at: created_at, awardable_id: issue.id, awardable_type: 'Issue' })
  t.same((await guest.get(`${awards}/${id}`)).json(), created.json())
  t.same((await guest.get(awards)).json(), [created.json()])
  t.match((await owner.get(path)).json(), { upvotes: 1, downvotes: 0 })
  for (const [asker, name, problem] of [
    [guest, 'thumbsup', ' {:name=>["has already been taken"]}'],
    [guest, 'no-such-emoji', ' {:name=>["is not a valid emoji name"]}'],
    [guest, 'constructor', ' {:name=>["is not a valid emoji name"]}'],
    [owner, 'thumbsdown', '']
  ] as const) {
    const res = await asker.post(awards, { name })
    t.same([res.statusCode, res.json()], [404, { message: `404 Award Emoji${problem} Not Found` }])
  }
  t.equal((await owner.post(awards, { name: 'tada' })).statusCode, 201)
  t.equal((await owner.delete(`${awards}/${id}`)).statusCode, 401, 'not even the owner of the project may remove it')
  t.same((await guest.delete(`${awards}/${id}`)).json(), created.json())
  t.equal((await guest.get(`${awards}/${id}`)).statusCode, 404)
  const note = (await guest.post(`${path}/notes`, { body: 'x' })).json().id
  const onNote = await owner.post(`${path}/notes/${note}/award_emoji`, { name: 'thumbsup' })
  t.match(onNote.json(), { awardable_type: 'Note', awardable_id: note })
  t.equal((await owner.get(path)).json().upvotes, 0, 'a vote for a note does not count for the issue')
  t.equal((await guest.post(`${path}/notes/${note}/award_emoji`, { name: 'thumbsup' })).statusCode, 404)
  t.equal((await guest.get(`${awards}/${onNote.json().id}`)).statusCode, 404, 'an award of a different record')
})

t.test('of notes that are written together, only a note about a missing issue fails', async t => {
  const { project, owner, issue } = await subject()
  const writer = await app.make.member(project, DEVELOPER)
  const issues = [issue, (await owner.post(`/projects/${project.id}/issues`, { title: 'b' })).json()]
  for (const { id } of issues) await app.as(writer).post(`/projects/${project.id}/issues/${id}/todo`)
  t.equal((await app.as(writer).get('/todos')).json().length, 2)
  const about = (id: number) => ({ type: 'Issue', id, authorId: 0, confidential: false }) as const
  const row = await findProject(project.id, actorOf(writer))
  if (!row) throw new Error('the project is missing')
  const write = (id: number, body: string) => createNote(row, about(id), { body }, actorOf(writer))
  const results = await Promise.allSettled([
    ...Array.from({ length: 20 }, (_, at) => write(issues[at % 2].id, `note ${at}`)),
    write(4_000_000_000, 'about nothing')
  ])
  t.match(results.at(-1), { reason: { message: /Note/ } })
  for (const [at, result] of results.slice(0, 20).entries()) {
    const { value } = result as PromiseFulfilledResult<{ id: number }>
    const path = `/projects/${project.id}/issues/${issues[at % 2].id}/notes/${value.id}`
    t.match((await owner.get(path)).json(), { id: value.id, body: `note ${at}`, author: { id: writer.id } })
  }
  t.same(await rows("select id from notes where note = 'about nothing'"), [])
  t.equal((await app.as(writer).get('/todos')).json().length, 0, 'the to-dos are done')
  t.match((await owner.get(`/projects/${project.id}/issues`)).json(), [
    { user_notes_count: 10 },
    { user_notes_count: 10 }
  ])
})

t.test('a note that is only an emoji is an award', async t => {
  const { project, owner, path } = await subject()
  const guest = app.as(await app.make.member(project, GUEST))
  const award = await guest.post(`${path}/notes`, { body: ' :tada: \n' })
  t.equal(award.statusCode, 201)
  t.match(award.json(), { name: 'tada', awardable_type: 'Issue' })
  t.same((await guest.post(`${path}/notes`, { body: ':tada:' })).json(), award.json(), 'the second time')
  for (const [asker, body] of [
    [owner, ':thumbsup:'],
    [guest, ':tada: !'],
    [guest, ':no-such:']
  ] as const) {
    t.match((await asker.post(`${path}/notes`, { body })).json(), { body })
  }
  t.equal((await guest.get(`${path}/award_emoji`)).json().length, 1)
})

t.test('the notes of a deleted user disappear immediately, and no longer count', async t => {
  const { project, owner, path } = await subject()
  const author = await app.make.member(project, GUEST)
  await app.as(author).post(`${path}/notes`, { body: 'x' })
  await app.as(author).post(`${path}/award_emoji`, { name: 'thumbsup' })
  t.match((await app.as(author).get(path)).json(), { subscribed: true, user_notes_count: 1 })
  await app.as(await app.make.admin()).delete(`/users/${author.id}`)
  t.match((await owner.get(path)).json(), { user_notes_count: 0, upvotes: 0 })
  t.same((await owner.get(`${path}/notes`)).json(), [])
})

t.test('notes move with their issue, and are deleted with it', async t => {
  const { project, owner, issue, path } = await subject()
  const note = (await owner.post(`${path}/notes`, { body: 'x' })).json()
  await owner.post(`${path}/award_emoji`, { name: 'tada' })
  const other = (await owner.post(`${path}/notes`, { body: 'y' })).json()
  await owner.post(`${path}/notes/${other.id}/award_emoji`, { name: 'smile' })
  const target = await app.make.project({ owner: project.owner })
  const moved = (await owner.post(`${path}/move`, { to_project_id: target.id })).json()
  const there = `/projects/${target.id}/issues/${moved.id}`
  const [copy, second] = (await owner.get(`${there}/notes`)).json()
  t.match(copy, { body: 'x', created_at: note.created_at, author: note.author })
  t.match((await owner.get(`${there}/notes/${second.id}/award_emoji`)).json(), [{ name: 'smile' }])
  t.same((await owner.get(`${there}/notes/${copy.id}/award_emoji`)).json(), [])
  t.match((await owner.get(`${there}/award_emoji`)).json(), [{ name: 'tada' }])
  await owner.delete(path)
  t.same(
    await execute('delete from notes where noteable_id = ?', [issue.id]).then(({ affectedRows }) => affectedRows),
    0
  )
})

/** Starts a receiver of note events of a project. */
async function hooked(t: Test, project: TestProject, confidentialIssuesEvents = false) {
  const { port, received } = await receiver(t, response => response.end())
  await Hook.create({
    projectId: project.id,
    url: `http://127.0.0.1:${port}/`,
    pushEvents: false,
    noteEvents: true,
    confidentialIssuesEvents
  })
  return received
}

t.test('hooks and the feed get notes', async t => {
  const { project, owner, issue, path } = await subject()
  await app.runJobs()
  const received = await hooked(t, project)
  const note = (await owner.post(`${path}/notes`, { body: 'Hello' })).json()
  await owner.put(`${path}/notes/${note.id}`, { body: 'Hello again' })
  const snippet = await makeSnippet(project.owner, project)
  const other = (await owner.post(`/projects/${project.id}/snippets/${snippet}/notes`, { body: 'Nice' })).json()
  await owner.delete(`${path}/notes/${note.id}`)
  await app.runJobs()
  const payloads = received.map(({ headers, body }) => {
    t.equal(headers['x-gitstead-event'], 'Note Hook')
    return JSON.parse(body)
  })
  t.equal(payloads.length, 1, 'there is no event about a deleted note')
  const web = `${publicUrl()}/${project.path}`
  const { project: shown, repository, ...rest } = payloads[0]
  t.match([shown, repository], [{ path_with_namespace: project.path }, { homepage: web }])
  t.same(rest, {
    object_kind: 'note',
    user: { name: project.owner.name, username: project.owner.username, avatar_url: null },
    project_id: project.id,
    object_attributes: {
      id: other.id,
      note: 'Nice',
      noteable_type: 'Snippet',
      author_id: project.owner.id,
      created_at: other.created_at,
      updated_at: other.created_at,
      project_id: project.id,
      attachment: null,
      line_code: null,
      commit_id: null,
      noteable_id: snippet,
      system: false,
      st_diff: null,
      updated_by_id: null,
      type: null,
      position: null,
      original_position: null,
      resolved_at: null,
      resolved_by_id: null,
      discussion_id: null,
      url: `${web}/snippets/${snippet}#note_${other.id}`
    },
    snippet: {
      id: snippet,
      title: 'Hello',
      content: 'puts 1\n',
      author_id: project.owner.id,
      project_id: project.id,
      created_at: rest.snippet.created_at,
      updated_at: rest.snippet.updated_at,
      file_name: 'hello.rb',
      type: 'ProjectSnippet',
      visibility_level: 20
    }
  })
  await owner.post(`${path}/notes`, { body: 'About an issue' })
  await app.runJobs()
  t.match(JSON.parse(received[1]?.body ?? ''), {
    object_attributes: {
      noteable_type: 'Issue',
      noteable_id: issue.id,
      url: `${web}/issues/${issue.iid}#note_${other.id + 1}`
    },
    issue: { id: issue.id, iid: issue.iid, title: 'One', state: 'opened' }
  })
  const [event] = (await owner.get(`/projects/${project.id}/events`)).json()
  t.match(event, { action_name: 'commented on', target_type: 'Note', target_title: 'One' })
})

t.test('only hooks with a separate flag get notes about confidential issues', async t => {
  const { project, owner } = await subject()
  const [plain, trusted] = [await hooked(t, project), await hooked(t, project, true)]
  const id = await makeIssue(project, project.owner, { confidential: true })
  await owner.post(`/projects/${project.id}/issues/${id}/notes`, { body: 'Secret' })
  await app.runJobs()
  const notesOf = (received: typeof plain) =>
    received.filter(({ headers }) => headers['x-gitstead-event'] === 'Note Hook')
  t.same([notesOf(plain).length, notesOf(trusted).length], [0, 1])
})

t.test('slash commands of notes', async t => {
  const { project, owner, path } = await subject({ visibility_level: 20 })
  for (const name of ['bug', 'two words']) await owner.post(`/projects/${project.id}/labels`, { name, color: '#fff' })
  await owner.post(`/projects/${project.id}/milestones`, { title: 'v1' })
  const lines = [
    'Done.',
    '/close',
    '/title Better',
    `/assign @${project.owner.username}`,
    '/label ~bug ~"two words" ~unknown',
    '/unlabel ~bug',
    '/milestone %v1',
    '/due 2027-01-02',
    '/estimate 3h',
    '/spend 90m',
    '/unsubscribe',
    '/award :tada:',
    '/reopen',
    '/due tomorrow',
    '/unknown',
    '`/close`'
  ]
  const note = await owner.post(`${path}/notes`, { body: lines.join('\n') })
  t.equal(note.statusCode, 201)
  t.equal(note.json().body, 'Done.\n/reopen\n/due tomorrow\n/unknown\n`/close`')
  t.match((await owner.get(path)).json(), {
    state: 'closed',
    title: 'Better',
    assignee: { id: project.owner.id },
    labels: ['two words'],
    milestone: { title: 'v1' },
    due_date: '2027-01-02',
    subscribed: false
  })
  t.match((await owner.get(`${path}/time_stats`)).json(), { time_estimate: 10_800, total_time_spent: 5400 })
  t.match((await owner.get(`${path}/award_emoji`)).json(), [{ name: 'tada' }])

  const only = await owner.post(`${path}/notes`, { body: '/reopen\n/unassign\n/remove_milestone' })
  t.same(
    [only.statusCode, only.json()],
    [404, { message: '404 Note {:commands_only=>["Your commands have been executed!"]} Not Found' }]
  )
  t.match((await owner.get(path)).json(), { state: 'reopened', assignee: null, milestone: null })

  const stranger = app.as(await app.make.user())
  const kept = await stranger.post(`${path}/notes`, { body: '/close\n/label ~bug\n/subscribe\nplease' })
  t.equal(kept.json().body, '/close\n/label ~bug\nplease')
  t.match((await owner.get(path)).json(), { state: 'reopened', labels: ['two words'] })
})

t.test('the feed shows notes about confidential, private and code records only to users who may read them', async t => {
  const project = await app.make.project({ visibility_level: 20, snippets_enabled: true })
  const owner = app.as(project.owner)
  const base = `/projects/${project.id}`
  await app.runJobs()
  const secret = (await owner.post(`${base}/issues`, { title: 'Secret', confidential: true })).json()
  await owner.post(`${base}/issues/${secret.id}/notes`, { body: 'Secret note' })
  const snippet = await makeSnippet(project.owner, project, { title: 'Private', level: 0 })
  await owner.post(`${base}/snippets/${snippet}/notes`, { body: 'Private note' })
  const open = (await owner.post(`${base}/issues`, { title: 'Open' })).json()
  const note = (await owner.post(`${base}/issues/${open.id}/notes`, { body: 'Open note' })).json()
  await app.runJobs()
  const titles = async (asker: typeof owner, path: string) => {
    const events: { target_title: string | null }[] = (await asker.get(path)).json()
    return events.flatMap(({ target_title: title }) => title ?? []).sort()
  }
  const [stranger, guest] = [app.as(await app.make.user()), app.as(await app.make.member(project, GUEST))]
  const [events, feed] = [`${base}/events`, `/users/${project.owner.id}/events`]
  for (const path of [events, feed]) {
    t.same(await titles(owner, path), ['Open', 'Open', 'Private', 'Secret', 'Secret'])
    t.same(await titles(guest, path), ['Open', 'Open', 'Private'])
    t.same(await titles(stranger, path), ['Open', 'Open'])
  }
  t.same(await titles(app.nobody, events), ['Open', 'Open'])
  const about = (await stranger.get(events)).json().find((event: { note?: object }) => event.note)
  t.same(about.note, note)
})

t.test('slash commands of descriptions run only at creation', async t => {
  const { project, owner, path } = await subject({ visibility_level: 20 })
  await owner.post(`/projects/${project.id}/labels`, { name: 'bug', color: '#fff' })
  const description = `Broken\n/label ~bug\n/assign @${project.owner.username}\n/due 2027-01-02\n/close`
  const issues = `/projects/${project.id}/issues`
  const made = (await owner.post(issues, { title: 'x', labels: 'new', description })).json()
  t.match(made, {
    description: 'Broken\n/close',
    state: 'opened',
    labels: ['bug', 'new'],
    assignee: { id: project.owner.id },
    due_date: '2027-01-02'
  })
  const stranger = app.as(await app.make.user())
  t.match((await stranger.post(issues, { title: 'x', description })).json(), {
    description,
    labels: [],
    assignee: null
  })
  t.match((await owner.put(path, { description: '/label ~bug' })).json(), { description: '/label ~bug', labels: [] })
})
