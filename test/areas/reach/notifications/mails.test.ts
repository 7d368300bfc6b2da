// Mails about events: their recipients, the reasons, and the contents.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ParsedMail, simpleParser } from 'mailparser'
import { createLineNote } from '../../../../src/areas/planning/discussion/line-notes.js'
import { unsubscribe } from '../../../../src/areas/reach/notifications/unsubscribe.js'
import { config, loadConfig } from '../../../../src/config.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { actorOf, originBy, projectRow, type TestProject, type TestUser } from '../../../helpers/factory.js'
import { numbersTo } from '../../../helpers/numbers.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { endBuild, makePipeline, newestBuild } from '../../ci/builds/make-builds.js'
import { accept, makeBranch, makeMergeRequest, makeProject } from '../../planning/merge-requests/make-merge-requests.js'

const app = await testApp(t)
const { make } = app

/** The people of one test by their short names. */
type People = Readonly<Record<string, TestUser>>

let last = 0

/** Runs all jobs. Returns the new mails as `KIND NAME REASON`, sorted. */
async function mailed(people: People): Promise<string[]> {
  await app.runJobs()
  const found = await rows<{ id: number; kind: string; user_id: number; reason: string }>(
    'select d.id, m.kind, d.user_id, d.reason from mail_deliveries d join mails m on m.id = d.mail_id where d.id > ?',
    [last]
  )
  last = Math.max(last, ...found.map(({ id }) => id))
  const names = new Map(Object.entries(people).map(([name, { id }]) => [id, name]))
  return found.map(({ kind, user_id: id, reason }) => `${kind} ${names.get(id) ?? id} ${reason}`).sort()
}

/** The newest mail to a user. */
async function letterTo({ email }: TestUser): Promise<ParsedMail> {
  const folder = join(config().home, 'mail')
  const files = readdirSync(folder).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  for (const file of files) {
    const mail = await simpleParser(readFileSync(join(folder, file)))
    if (JSON.stringify(mail.to).includes(`"${email}"`)) return mail
  }
  throw new Error(`there is no mail to ${email}`)
}

const level = (user: TestUser, path: string, level: string, events: object = {}) =>
  app.as(user).put(`${path}/notification_settings`, { level, ...events })

/** A public project with its people: a watcher, a user with the level disabled, and more with other levels. */
async function subject(of: (values: object) => Promise<TestProject> = make.project) {
  const project = await of({ visibility_level: 20 })
  const people = {
    owner: project.owner,
    ann: await make.member(project, DEVELOPER),
    bob: await make.member(project, DEVELOPER),
    watcher: await make.user(),
    mention: await make.member(project, REPORTER),
    off: await make.member(project, REPORTER),
    custom: await make.member(project, REPORTER),
    stranger: await make.user()
  }
  const path = `/projects/${project.id}`
  await level(people.watcher, path, 'watch')
  await level(people.mention, path, 'mention')
  await level(people.off, path, 'disabled')
  await level(people.custom, path, 'custom', { close_issue: true, merge_merge_request: true, success_pipeline: true })
  await mailed(people)
  return { project, people, path }
}

t.test('issues: new, changed, closed and reopened', async t => {
  const { people, path } = await subject()
  const { owner, ann, bob, mention, off } = people
  const text = `For @${mention.username}, @${off.username}, @${owner.username} and @nobody`
  const body = { title: 'It <breaks>', description: text, assignee_id: ann.id }
  const { id, iid } = (await app.as(owner).post(`${path}/issues`, body)).json()
  t.same(await mailed(people), ['issue ann assignee', 'issue mention mentioned', 'issue watcher watcher'])
  const letter = await letterTo(ann)
  t.match(letter.subject, /^user-\d+\/project-\d+ \| It <breaks> \(#1\)$/)
  t.match(letter.text, new RegExp(`^${owner.name} \\(@${owner.username}\\) created the issue\n`))
  t.match(
    letter.text,
    new RegExp(`Assignee: ${ann.name}.*${text}.*/issues/${iid}\n.*because you are its assignee\\.`, 's')
  )
  t.match(letter.html, 'It &lt;breaks&gt;')
  t.match(letter.headers.get('references'), `issue_${id}@`)

  await app.as(bob).put(`${path}/issues/${id}`, { assignee_id: bob.id })
  t.same(await mailed(people), ['issue ann previous_assignee', 'issue owner author', 'issue watcher watcher'])
  t.match((await letterTo(owner)).text, new RegExp(`Assignee: ${ann.name} .* before, ${bob.name} .* now`))
  t.match((await letterTo(owner)).subject, /^Re: /)
  await app.as(owner).put(`${path}/issues/${id}`, { title: 'It breaks', milestone_id: 0 })
  t.same(await mailed(people), [], 'other changes are not events')
  await app.as(owner).put(`${path}/issues/${id}`, { state_event: 'close' })
  t.same(await mailed(people), ['issue bob assignee', 'issue custom custom', 'issue watcher watcher'])
  await app.as(bob).put(`${path}/issues/${id}`, { state_event: 'reopen', assignee_id: owner.id })
  t.same(await mailed(people), [
    'issue owner assignee',
    'issue owner assignee',
    'issue watcher watcher',
    'issue watcher watcher'
  ])
})

t.test(
  'notes: participants, mentioned users and subscribers get mail, and users who have unsubscribed get none',
  async t => {
    const { project, people, path } = await subject()
    const { owner, ann, bob, mention, off, stranger } = people
    const { id } = (await app.as(owner).post(`${path}/issues`, { title: 'x' })).json()
    const note = (by: TestUser, body: string) => app.as(by).post(`${path}/issues/${id}/notes`, { body })
    await note(ann, 'hm')
    await mailed(people)
    await note(stranger, `@${mention.username} <b>look</b>, and not \`@${bob.username}\``)
    t.same(await mailed(people), [
      'note ann participant',
      'note mention mentioned',
      'note owner author',
      'note watcher watcher'
    ])
    const letter = await letterTo(mention)
    t.match(letter.text, /<b>look<\/b>.*\/issues\/1#note_\d+\n.*because you were mentioned\./s)
    t.match(letter.html, '&lt;b&gt;look')
    t.match(letter.from?.value, [{ name: stranger.name, address: /^gitstead@/ }])
    t.match((letter.headers.get('list') as { unsubscribe: { url: string } }).unsubscribe.url, '/-/unsubscribe?token=')
    // A participant counts as subscribed without an explicit subscription.
    await app.as(mention).delete(`${path}/issues/${id}/subscription`)
    for (const who of [mention, off]) await app.as(who).post(`${path}/issues/${id}/subscription`)
    await app.as(owner).delete(`${path}/issues/${id}/subscription`)
    await unsubscribe({ userId: ann.id, projectId: project.id, target: { type: 'Issue', id } })
    await note(bob, `@${owner.username}`)
    t.same(await mailed(people), ['note mention subscriber', 'note stranger participant', 'note watcher watcher'])
    await unsubscribe({ userId: people.watcher.id, projectId: project.id })
    await execute("update users set state = 'blocked' where id = ?", [stranger.id])
    await note(bob, 'once more')
    t.same(await mailed(people), ['note mention subscriber'])
    await unsubscribe({ userId: 4_000_000_000, projectId: project.id })
    await unsubscribe({ userId: ann.id, projectId: 4_000_000_000 })
  }
)

t.test('comments on lines: the mail names the file, and shows the line', async t => {
  const { project, people, path } = await subject(makeProject)
  const { owner, ann, bob } = people
  await makeBranch(project, 'topic', 'one\ntwo\n<three>\nfour\nfive\n')
  const found = await makeMergeRequest(project, { source_branch: 'topic' })
  await mailed(people)
  await createLineNote(
    await projectRow(project),
    found,
    { body: 'Why?', head: found.head_sha ?? '', path: 'topic.txt', line: 5, side: 'new' },
    { actor: actorOf(bob), origin: originBy(bob) }
  )
  await mailed(people)
  const letter = await letterTo(owner)
  t.match(letter.text, /topic.txt, line 5\n\n {4}\+two\n {4}\+<three>\n {4}\+four\n {4}\+five\n\n+Why\?/)
  t.match(letter.html, '<pre>+two\n+&lt;three&gt;\n+four\n+five</pre>')
  await make.file(project, 'notes', 'a\nb\n')
  const [{ id }] = (await app.as(owner).get(`${path}/repository/commits`)).json()
  await mailed(people)
  const comment = { note: 'This one', path: 'notes', line: 2, line_type: 'new' }
  await app.as(ann).post(`${path}/repository/commits/${id}/comments`, comment)
  await mailed(people)
  t.match((await letterTo(owner)).text, /notes, line 2\n\n {4}\+a\n {4}\+b\n\n+This one/)
})

t.test('edits: only people whom they newly mention get mail', async t => {
  const { project, people, path } = await subject(makeProject)
  const { owner, ann, bob, mention, off, stranger } = people
  const { id } = (await app.as(owner).post(`${path}/issues`, { title: 'x', description: `@${ann.username}` })).json()
  const note = (await app.as(bob).post(`${path}/issues/${id}/notes`, { body: `@${ann.username}` })).json()
  await mailed(people)
  const all = [ann, mention, off, owner].map(({ username }) => `@${username}`).join(' ')
  await app.as(owner).put(`${path}/issues/${id}`, { title: 'y', description: all })
  t.same(await mailed(people), ['issue mention mentioned'])
  const letter = await letterTo(mention)
  t.match(letter.text, new RegExp(`mentioned you in the issue\n.*${all}`, 's'))
  t.match([letter.subject, letter.headers.get('references')], [/^Re: .* \| y \(#1\)$/, `issue_${id}@`])
  await app.as(owner).put(`${path}/issues/${id}`, { title: 'x', assignee_id: bob.id, description: `@${bob.username}` })
  t.same(
    await mailed(people),
    ['issue ann participant', 'issue bob assignee', 'issue watcher watcher'],
    'one mail for two reasons'
  )
  t.match((await letterTo(bob)).text, new RegExp(`another assignee to the issue\n.*@${bob.username}`, 's'))
  await app.as(bob).put(`${path}/issues/${id}`, { title: 'x', assignee_id: 0 })
  await mailed(people)
  // The master edits another user's note.
  await app.as(owner).put(`${path}/issues/${id}/notes/${note.id}`, { body: `${all} @${bob.username} @all` })
  t.same(
    (await mailed(people)).filter(each => !/custom/.test(each)),
    ['note ann mentioned', 'note bob mentioned', 'note mention mentioned'],
    '@all counts as a name, too'
  )
  t.match((await letterTo(mention)).text, new RegExp(`^${owner.name} .* mentioned you in a note about the issue\n`))
  const request = await makeMergeRequest(project, { description: `@${ann.username}` })
  await mailed(people)
  await app
    .as(owner)
    .put(`${path}/merge_requests/${request.id}`, { description: `@${ann.username} @${stranger.username}` })
  t.same(await mailed(people), ['merge-request stranger mentioned'])
})

t.test('groups in a text: their members get mail if the author may reach them', async t => {
  const { people, path } = await subject()
  const { owner, stranger } = people
  const group = await make.group()
  const insider = await make.groupMember(group, REPORTER)
  const all = { ...people, insider, colleague: await make.groupMember(group, REPORTER) }
  const { id } = (await app.as(owner).post(`${path}/issues`, { title: 'x' })).json()
  await mailed(all)
  const note = (by: TestUser) => app.as(by).post(`${path}/issues/${id}/notes`, { body: `@all and @${group.path}` })
  await note(stranger)
  t.same(await mailed(all), ['note owner author', 'note watcher watcher'])
  await note(insider)
  const others = ['note owner author', 'note stranger participant', 'note watcher watcher']
  t.same(await mailed(all), ['note colleague mentioned', ...others])
  await note(owner)
  const members = ['ann', 'bob', 'custom', 'mention'].map(name => `note ${name} mentioned`)
  const participants = ['colleague', 'insider'].map(name => `note ${name} participant`)
  t.same(await mailed(all), [...members, ...participants, ...others.slice(1)].sort())
})

t.test('labels: their subscribers get mail when they are added, and about new records with them', async t => {
  const { people, path } = await subject()
  const { owner, bob, mention, off } = people
  await app.as(owner).post(`${path}/labels`, { name: 'bug', color: '#fff' })
  const [label] = (await app.as(owner).get(`${path}/labels`)).json()
  for (const who of [mention, off, bob]) await app.as(who).post(`${path}/labels/${label.id}/subscription`)
  const { id } = (await app.as(owner).post(`${path}/issues`, { title: 'x' })).json()
  t.same(await mailed(people), ['issue watcher watcher'])
  await app.as(owner).put(`${path}/issues/${id}`, { labels: 'bug' })
  t.same(await mailed(people), ['issue bob label_subscriber', 'issue mention label_subscriber'])
  t.match((await letterTo(bob)).text, /added labels to the issue.*Labels: bug/s)
  await app.as(owner).put(`${path}/issues/${id}`, { labels: '' })
  await app.as(owner).post(`${path}/issues`, { title: 'y', labels: 'bug' })
  t.same(await mailed(people), [
    'issue bob label_subscriber',
    'issue mention label_subscriber',
    'issue watcher watcher'
  ])
})

t.test('a moved issue: one mail, about the new issue', async t => {
  const { people, path } = await subject()
  const { owner, ann } = people
  const to = await make.project({ owner })
  await make.member(to, REPORTER, ann)
  const { id } = (await app.as(ann).post(`${path}/issues`, { title: 'Wanders' })).json()
  await mailed(people)
  await app.as(owner).post(`${path}/issues/${id}/move`, { to_project_id: to.id })
  t.same(await mailed(people), ['issue ann author'])
  t.match((await letterTo(ann)).subject, `${to.path} | Wanders (#1)`)
})

t.test('limits of lists in mails', async t => {
  const { project, people, path } = await subject()
  const { owner, bob } = people
  for (let at = 10; at < 62; at++) await app.as(owner).post(`${path}/labels`, { name: `label-${at}`, color: '#fff' })
  const labels = (await app.as(owner).get(`${path}/labels`)).json()
  const [first] = labels
  await app.as(bob).post(`${path}/labels/${first.id}/subscription`)
  const { id } = (await app.as(owner).post(`${path}/issues`, { title: 'x' })).json()
  await mailed(people)
  const names = labels.map(({ name }: { name: string }) => name).join(',')
  await app.as(owner).put(`${path}/issues/${id}`, { labels: names })
  t.same(await mailed(people), ['issue bob label_subscriber'])
  t.equal((await letterTo(bob)).text?.match(/label-\d\d/g)?.length, 50)

  await make.file(project, 'README', 'x')
  const jobs = Array.from({ length: 22 }, (_, at) => `job-${at + 10}:\n  script: [x]\n`).join('')
  for (const build of await makePipeline(project, jobs))
    await endBuild(build, { status: 'failed', trace: `says ${build.name}` })
  t.same(await mailed(people), ['pipeline owner pipeline_user', 'pipeline watcher watcher'])
  const { text = '' } = await letterTo(owner)
  t.equal(text.match(/^ {2}test: job-\d\d$/gm)?.length, 20)
  t.match(text, '  and 2 more')
  t.same(text.match(/says job-\d\d/g), ['says job-10', 'says job-11', 'says job-12'])
})

t.test('a confidential issue and a private project: people who may not read get no mail', async t => {
  const { project, people, path } = await subject()
  const { owner, ann, stranger } = people
  const guest = await make.member(project, GUEST)
  await level(guest, path, 'watch')
  await level(ann, path, 'watch')
  const all = `@${stranger.username} @${guest.username} @all`
  const body = { title: 'secret', description: all, confidential: true }
  const { id } = (await app.as(owner).post(`${path}/issues`, body)).json()
  const insiders = ['ann mentioned', 'bob mentioned', 'custom mentioned', 'mention mentioned']
  t.same(
    await mailed(people),
    insiders.map(each => `issue ${each}`)
  )
  await app.as(owner).post(`${path}/issues/${id}/notes`, { body: all })
  t.same(
    await mailed(people),
    insiders.map(each => `note ${each}`)
  )
  await app.as(owner).put(path, { visibility_level: 0 })
  await app.as(owner).post(`${path}/issues`, { title: 'open', description: all })
  t.match(await mailed({ ...people, guest }), [
    'issue ann mentioned',
    /bob/,
    /custom/,
    'issue guest mentioned',
    /mention/
  ])
})

t.test('levels of groups, and the global level', async t => {
  const group = await make.group()
  const owner = await make.groupMember(group)
  const project = await make.project({ owner, group })
  const people = { owner, ann: await make.groupMember(group, REPORTER), bob: await make.groupMember(group, REPORTER) }
  const { ann, bob } = people
  const shared = await make.group()
  const far = await make.groupMember(shared, REPORTER)
  await make.share(project, shared, REPORTER)
  for (const who of [ann, far, await make.user()]) await level(who, '', 'watch')
  await level(bob, `/groups/${group.id}`, 'watch')
  const create = () => app.as(owner).post(`/projects/${project.id}/issues`, { title: 'x' })
  await mailed(people)
  await create()
  t.same(await mailed({ ...people, far }), ['issue ann watcher', 'issue bob watcher', 'issue far watcher'])
  await level(ann, `/groups/${group.id}`, 'participating')
  await level(bob, `/projects/${project.id}`, 'disabled')
  await create()
  t.same(await mailed({ ...people, far }), ['issue far watcher'])
  t.match((await app.as(far).put('/notification_settings', { level: 'custom', new_issue: true })).json(), {
    level: 'custom',
    events: { new_issue: true }
  })
  await create()
  t.same(await mailed({ ...people, far }), ['issue far custom'])
})

t.test('merge requests: new, reassigned, closed, reopened and merged', async t => {
  const { project, people, path } = await subject(makeProject)
  const { ann, bob } = people
  const { id } = await makeMergeRequest(project, { assignee_id: ann.id, description: `@${bob.username}` })
  t.same(await mailed(people), [
    'merge-request ann assignee',
    'merge-request bob mentioned',
    'merge-request watcher watcher'
  ])
  const opened = await letterTo(ann)
  t.match(opened.from?.value, [{ name: people.owner.name, address: /^gitstead@/ }])
  t.match(opened.text, `Assignee: ${ann.name} (@${ann.username})\nBranches: feature into master\n`)
  t.match(opened.text, /\n1 commit:\n {2}[0-9a-f]{8} - \S.*\n\n1 changed file, \+1 -0:\n {2}feature\.txt \+1 -0\n/)
  const change = (body: object) => app.as(ann).put(`${path}/merge_requests/${id}`, body)
  await change({ assignee_id: bob.id })
  t.same(await mailed(people), [
    'merge-request bob assignee',
    'merge-request owner author',
    'merge-request watcher watcher'
  ])
  const others = ['merge-request bob assignee', 'merge-request owner author', 'merge-request watcher watcher']
  for (const event of ['close', 'reopen']) {
    await change({ state_event: event })
    t.same(await mailed(people), others, event)
  }
  await app.as(ann).post(`${path}/merge_requests/${id}/notes`, { body: 'fine' })
  t.same(
    await mailed(people),
    others.map(each => each.replace('merge-request', 'note'))
  )
  await accept(project, id)
  t.same(await mailed(people), [
    'merge-request ann participant',
    'merge-request bob assignee',
    'merge-request custom custom',
    'merge-request watcher watcher'
  ])
  t.match((await letterTo(bob)).text, /merged the merge request/)

  await makeBranch(project, 'story')
  await makeBranch(project, 'base')
  const story = await makeMergeRequest(project, { source_branch: 'story', assignee_id: ann.id })
  await mailed(people)
  const both = ['merge-request ann assignee', 'merge-request watcher watcher']
  await make.file(project, 'more.txt', 'x', 'story')
  t.same(await mailed(people), both, 'new commits')
  const pushed = await letterTo(ann)
  t.match(pushed.text, new RegExp(`${people.owner.name} .* added 1 commit to the merge request\n\n[0-9a-f]{8} - \\S`))
  await app.as(people.owner).put(`${path}/merge_requests/${story.id}`, { target_branch: 'base' })
  t.same(await mailed(people), both, 'another target')
  t.match((await letterTo(ann)).text, /changed the target branch of .*\n\nTarget branch: master before, base now/)
  await execute(
    `insert into pipelines (project_id, ref, tag, sha, before_sha, status, source, created_at, updated_at)
     select target_project_id, source_branch, false, head_sha, head_sha, 'running', 'push', now(), now() from merge_requests
     where id = ?`,
    [story.id]
  )
  await accept(project, story.id, { merge_when_build_succeeds: true })
  t.same(await mailed(people), both, 'an automatic merge')
  t.match((await letterTo(ann)).text, /enabled an automatic merge of the merge request/)
  await app.as(people.owner).put(`${path}/merge_requests/${story.id}/cancel_merge_when_build_succeeds`)
  t.same(await mailed(people), both, 'a canceled one')
  t.match((await letterTo(ann)).text, /canceled the automatic merge of the merge request/)

  await makeBranch(project, 'waiting')
  const waits = await makeMergeRequest(project, { source_branch: 'waiting' })
  await mailed(people)
  await execute('update merge_requests set merge_when_build_succeeds = true, merge_user_id = ? where id = ?', [
    people.owner.id,
    waits.id
  ])
  await accept(project, waits.id)
  t.same(
    await mailed(people),
    ['merge-request custom custom', 'merge-request owner author', 'merge-request watcher watcher'],
    'the merger also gets mail about an automatic merge'
  )
})

t.test('pipelines: failures and successes, for users who started them and users who chose to get mail', async t => {
  const { project, people } = await subject()
  await make.file(project, 'README', 'x')
  await mailed(people)
  const run = async (status: 'failed' | 'success', branch: string = status) => {
    const [build] = await makePipeline(project, `one:\n  script: [${status}]\n`, branch)
    if (!build) throw new Error('no build')
    const output = Array.from({ length: 100 }, (_, at) => `\u001b[32mline ${at}\u001b[0m\r\n`).join('')
    await endBuild(build, { status, trace: `${output}$ exit 1\n` })
    if (status === 'failed')
      await execute("update builds set failure_reason = 'script_failure', exit_code = 1 where id = ?", [build.id])
    return mailed(people)
  }
  for (const name of ['failed', 'success', 'hidden', 'broken', 'next', 'last']) await make.branch(project, name)
  t.same(await run('failed'), ['pipeline owner pipeline_user', 'pipeline watcher watcher'])
  const letter = await letterTo(project.owner)
  t.match(letter.subject, /Pipeline #\d+ of failed has failed \([0-9a-f]{8}\)/)
  t.match(letter.text, /Failed builds:\n {2}test: one \(script failure, exit code 1\)\n/)
  t.match(letter.text, /The end of the trace of test: one:\n\n {2}line 71\n[\s\S]* {2}line 99\n {2}\$ exit 1\n/)
  t.notMatch(letter.text, /line 70|\u001b/)
  t.match(letter.html, '<pre>line 71\n')
  t.same(await run('success'), ['pipeline custom custom', 'pipeline owner pipeline_user'])
  const { sha } = await newestBuild(project)
  const owner = app.as(project.owner)
  await owner.post(`/projects/${project.id}/statuses/${sha}`, { state: 'failed', ref: 'success', name: 'coverage' })
  t.same(await mailed(people), ['pipeline owner pipeline_user', 'pipeline watcher watcher'], 'an external status')
  t.match((await letterTo(project.owner)).text, /Failed builds:\n {2}external: coverage\n/)

  await owner.put(`/projects/${project.id}`, { public_builds: false })
  t.same(await run('failed', 'hidden'), ['pipeline owner pipeline_user', 'pipeline watcher watcher'])
  t.match((await letterTo(project.owner)).text, 'The end of the trace of test: one')
  const toStranger = (await letterTo(people.watcher)).text
  t.match(toStranger, /Failed builds:\n {2}test: one/)
  t.notMatch(toStranger, /trace|line 99/, 'the watcher may not read builds')
  await owner.put(`/projects/${project.id}`, { public_builds: true })
  await makePipeline(project, 'one: [', 'broken')
  await mailed(people)
  t.match(
    (await letterTo(project.owner)).text,
    /has failed\.\n\nCommit: .*\n\n\S.*\.gitstead-ci\.yml|has failed\.[\s\S]*YAML/i
  )

  const click = async (user: TestUser) => {
    const url = /Unsubscribe: (\S+)/.exec((await letterTo(user)).text ?? '')?.[1] ?? ''
    const { pathname, search } = new URL(url)
    return app.nobody.inject({ method: 'POST', url: pathname + search })
  }
  t.match((await click(people.watcher)).body, `no more mail about pipelines of ${project.path}`)
  t.equal((await click(project.owner)).statusCode, 200)
  t.same(await run('failed', 'next'), [], 'both users unsubscribed from pipelines')
  const settings = `/projects/${project.id}/notification_settings`
  t.match((await app.as(people.watcher).get(settings)).json(), { level: 'watch' })
  t.match((await owner.get(settings)).json(), { level: 'global' })
  await owner.post(`/projects/${project.id}/issues`, { title: 'x' })
  t.same(await mailed(people), ['issue watcher watcher'], 'other mail still comes')
  await level(people.watcher, `/projects/${project.id}`, 'watch')
  t.same(await run('failed', 'last'), ['pipeline watcher watcher'], 'a new choice of the level starts the mail again')
})

t.test('comments on commits, and notes about snippets', async t => {
  const { project, people, path } = await subject()
  const { owner, ann, bob, mention } = people
  await make.file(project, 'README', 'x')
  const [{ id: sha }] = (await app.as(owner).get(`${path}/repository/commits`)).json()
  const comment = (by: TestUser, note: string) =>
    app.as(by).post(`${path}/repository/commits/${sha}/comments`, { note })
  await mailed(people)
  await comment(ann, `@${mention.username}`)
  t.same(await mailed(people), ['note mention mentioned', 'note owner participant', 'note watcher watcher'])
  await comment(bob, 'x')
  t.same(await mailed(people), ['note ann participant', 'note owner participant', 'note watcher watcher'])
  t.match((await letterTo(ann)).subject, `Add README (${sha.slice(0, 8)})`)
  await app.as(owner).put(path, { snippets_enabled: true })
  const snippet = { title: 's', file_name: 'a', code: 'x', visibility_level: 0 }
  const { id } = (await app.as(ann).post(`${path}/snippets`, snippet)).json()
  await app.as(bob).post(`${path}/snippets/${id}/notes`, { body: `@${people.stranger.username}` })
  t.same(
    await mailed(people),
    ['note ann author'],
    'a private snippet is for members: a watcher who is not a member gets no mail'
  )
})

t.test('services send mail to the addresses in their settings', async t => {
  const { project, people, path } = await subject()
  const { owner } = people
  const set = (slug: string, body: object) => app.as(owner).put(`${path}/services/${slug}`, body)
  const team = { ...owner, email: 'team@example.org' }
  await make.file(project, 'README', 'old line\n')
  await mailed(people)
  await set('emails-on-push', { recipients: 'team@example.org, boss@example.org' })
  await app.as(owner).put(`${path}/repository/files`, {
    file_path: 'README',
    branch_name: 'master',
    content: 'new <line>\n',
    commit_message: 'Say it\n\nbetter'
  })
  t.same(await mailed(people), ['push null service', 'push null service'])
  const letter = await letterTo(team)
  t.match(letter.subject, /pushed to the branch master$/)
  t.match(letter.text, /Commits:\n {2}[0-9a-f]{8} Say it, by .*Files:\n {2}modified README\n.*-old line\n\+new <line>/s)
  t.match(letter.html, '+new &lt;line&gt;')
  t.equal(letter.headers.get('list-unsubscribe-post'), undefined, 'an address without a user has no unsubscribe link')
  t.same(letter.from?.value, [{ name: 'Gitstead', address: 'gitstead@[127.0.0.1]' }])
  // The mail comes in the name of the user who pushed, but only from an address in the appliance's own domain.
  const committer = async (email: string) => {
    await execute('update users set email = ? where id = ?', [email, owner.id])
    await app.make.file(project, email, 'x')
    t.same(await mailed(people), ['push null service'])
    const { from, headers, replyTo } = await letterTo(team)
    return [from?.value, headers.has('sender'), replyTo]
  }
  await set('emails-on-push', { recipients: 'team@example.org', send_from_committer_email: true })
  process.env.GITSTEAD_MAIL_FROM = 'Gitstead <git@git.example.org>'
  t.teardown(() => delete process.env.GITSTEAD_MAIL_FROM)
  const port = config().port
  loadConfig({ port })
  const own = { name: 'Gitstead', address: 'git@git.example.org' }
  t.same(await committer('ada@GIT.example.org'), [
    [{ name: owner.name, address: 'ada@git.example.org' }],
    true,
    undefined
  ])
  t.same(await committer('ada@elsewhere.org'), [[own], false, undefined])
  t.same(await committer('ada@sub.git.example.org'), [[own], false, undefined])
  await execute('update users set email_confirmed_at = null where id = ?', [owner.id])
  t.same(await committer('bob@git.example.org'), [[own], false, undefined])
  await execute('update users set email_confirmed_at = now(), email = ? where id = ?', [owner.email, owner.id])
  delete process.env.GITSTEAD_MAIL_FROM
  loadConfig({ port })
  await set('emails-on-push', { recipients: 'team@example.org', disable_diffs: true })
  await make.branch(project, 'failed')
  t.same(await mailed(people), ['push null service'])
  await make.file(project, 'more', 'new line\n')
  await mailed(people)
  t.notMatch((await letterTo(team)).text, '+new line')
  await app.as(owner).delete(`${path}/services/emails-on-push`)

  await make.branch(project, 'success')
  const run = async (status: 'failed' | 'success') => {
    const [build] = await makePipeline(project, `one:\n  script: [${status} ${Math.random()}]\n`, status)
    if (build) await endBuild(build, { status })
    await app.as(owner).delete(`${path}/repository/files`, {
      file_path: '.gitstead-ci.yml',
      branch_name: status,
      commit_message: 'again'
    })
    return mailed(people)
  }
  await set('pipelines-email', { recipients: `team@example.org ${owner.email}` })
  await set('builds-email', { recipients: 'team@example.org', add_pusher: true })
  t.same(
    (await run('failed')).filter(each => each.startsWith('build')),
    ['build null service', 'build owner pipeline_user']
  )
  t.match((await letterTo(team)).subject, /(Build one|Pipeline #\d+) of failed has failed/)
  t.same(await run('success'), ['pipeline custom custom', 'pipeline owner pipeline_user'], 'only failures')
  await set('pipelines-email', { recipients: 'team@example.org', notify_only_broken_builds: false })
  await set('builds-email', { recipients: 'team@example.org', add_pusher: false, notify_only_broken_builds: false })
  t.same(await run('success'), [
    'build null service',
    'pipeline custom custom',
    'pipeline null service',
    'pipeline owner pipeline_user'
  ])
})

t.test('mail goes to the chosen address, and never to an unconfirmed one', async t => {
  const { people, path } = await subject()
  const { owner, ann } = people
  const work = `work-${ann.email}`
  await app.as(ann).post('/user/emails', { email: work })
  await app.as(ann).put('/notification_settings', { notification_email: work })
  await mailed(people)
  await execute('update users set email_confirmed_at = null where id = ?', [people.watcher.id])
  await app.as(owner).post(`${path}/issues`, { title: 'x', assignee_id: ann.id })
  t.same(await mailed(people), ['issue ann assignee'])
  t.match((await letterTo(ann)).subject, 'x (#1)', 'the chosen address is not confirmed yet')
  await execute('update emails set confirmed_at = now() where email = ?', [work])
  await app.as(owner).post(`${path}/issues`, { title: 'y', assignee_id: ann.id })
  await mailed(people)
  t.match((await letterTo({ ...ann, email: work })).subject, 'y (#2)')
  const { id } = await make.project({ owner })
  await app.as(owner).post(`/projects/${id}/members`, { user_id: ann.id, access_level: DEVELOPER })
  await mailed(people)
  t.match((await letterTo({ ...ann, email: work })).subject, 'You are now Developer', 'also mail about memberships')
})

t.test('a text with the most mentions reaches the people it names, and affects no other mail', async t => {
  const { people, path } = await subject()
  const { owner, ann, bob } = people
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  const name = (at: number) => [at, at / 26, at / 676].map(each => letters[Math.floor(each) % 26]).join('')
  const names = (most: number) =>
    `@${ann.username} ${Array.from({ length: Math.ceil(most / 5) }, (_, at) => `@${name(at)}`).join(' ')}`.slice(
      0,
      most
    )
  const create = (description: string) => app.as(owner).post(`${path}/issues`, { title: 'm', description })
  t.equal((await create(names(5_000_000))).statusCode, 413)
  const refused = await create(names(262_145))
  t.same(
    [refused.statusCode, refused.json().message.description],
    [400, ['is too long (maximum is 262144 characters)']]
  )
  const statements = await countStatements(async () => t.equal((await create(names(262_144))).statusCode, 201))
  t.ok(statements < 40, 'names are looked up in batches of a thousand')
  await app.as(owner).post(`${path}/issues`, { title: 'next', assignee_id: bob.id })
  // One of the names is @all.
  t.same(await mailed(people), [
    'issue ann mentioned',
    'issue bob assignee',
    'issue bob mentioned',
    'issue custom mentioned',
    'issue mention mentioned',
    'issue watcher watcher',
    'issue watcher watcher'
  ])
})

t.test('the number of statements does not grow with the people, and a repeated event is mailed once', async t => {
  const { project, people, path } = await subject()
  const { owner } = people
  const { id } = (await app.as(owner).post(`${path}/issues`, { title: 'x' })).json()
  await mailed(people)
  const { noteNotice } = await import('../../../../src/areas/reach/notifications/notices/notes.js')
  const { sendNotice } = await import('../../../../src/areas/reach/notifications/notices/notice.js')
  const hear = async (noteId: number) => {
    const event = { kind: 'note.created', noteId, confidential: false } as const
    const notice = await noteNotice({ id: `note ${noteId}`, at: new Date().toISOString(), event })
    if (notice) await sendNotice(notice)
  }
  const write = async (body: string) => (await app.as(owner).post(`${path}/issues/${id}/notes`, { body })).json().id
  const [none, one, many] = [
    await write('x'),
    await write('@all @x'),
    await write('@all '.repeat(3) + Array.from({ length: 3000 }, (_, at) => `@x${at}`).join(' '))
  ]
  const [few, before] = [await countStatements(() => hear(none)), await countStatements(() => hear(one))]
  const watchers = await Promise.all(Array.from({ length: 20 }, () => make.user()))
  for (const { id: userId } of watchers) {
    await execute(
      `insert into notification_settings (user_id, source_type, source_id, level, created_at, updated_at)
       values (?, 'Project', ?, 2, now(), now())`,
      [userId, project.id]
    )
  }
  t.equal(await countStatements(() => hear(many)), before)
  await hear(many)
  const [found] = await rows<{ count: number }>(
    'select count(*) as count from mail_deliveries d join mails m on m.id = d.mail_id where m.once = ?',
    [`note ${many} note`]
  )
  t.equal(found?.count, 25, 'watchers and members')
  // More than a few people are read by another statement.
  const crowd = Array.from({ length: 110 }, (_, at) => at)
  await execute(
    `insert into users (username, name, email, email_confirmed_at, password_hash, projects_limit, created_at, updated_at)
     select concat('crowd', seq), 'x', concat('crowd', seq, '@example.org'), now(), '', 0, now(), now() from ${numbersTo(crowd.length)}`
  )
  await execute(
    `insert into notification_settings (user_id, source_type, source_id, level, created_at, updated_at)
     select id, 'Project', ?, 2, now(), now() from users where username like 'crowd%'`,
    [project.id]
  )
  const more = await write('y')
  t.equal(await countStatements(() => hear(more)), few)
  const [all] = await rows<{ count: number }>(
    'select count(*) as count from mail_deliveries d join mails m on m.id = d.mail_id where m.once = ?',
    [`note ${more} note`]
  )
  t.equal(all?.count, 21 + crowd.length, 'watchers')
})
