// Kept answers: what proves them, and that no write of the API leaves an old one.

import { changesContent } from '../../src/db/connect/content.js'
import { sequelize } from '../../src/db/connect/sequelize.js'
import { execute, rows } from '../../src/db/connect/sql.js'
import { transact } from '../../src/db/connect/transact.js'
import { readsContentOnly } from '../../src/db/ownership/proven.js'
import { DEVELOPER, GUEST } from '../../src/lib/levels.js'
import { allAccess } from '../access/files.js'
import { makeWorld, type World } from '../access/world.js'
import { makeMergeRequest, makeProject } from '../areas/planning/merge-requests/make-merge-requests.js'
import { type Asker, testApp } from '../helpers/app.js'
import type { TestProject } from '../helpers/factory.js'
import { countStatements } from '../helpers/statements.js'
import t, { type Test } from '../helpers/tap.js'

const app = await testApp(t)
let count = 0

/** The paths of a project whose answers are kept, with those of records. */
const pathsOf = (id: number, records: { readonly [name: string]: string | number } = {}): string[] => [
  `/projects/${id}/labels`,
  `/projects/${id}/issues`,
  `/projects/${id}/issues?state=opened&per_page=2`,
  `/projects/${id}/merge_requests`,
  ...(records.issue_id
    ? [`/projects/${id}/issues/${records.issue_id}`, `/projects/${id}/issues/${records.issue_id}/notes`]
    : []),
  ...(records.merge_request_id ? [`/projects/${id}/merge_requests/${records.merge_request_id}/notes`] : [])
]

const shown = async (asker: Asker, path: string) => {
  const { statusCode, body, headers } = await asker.get(path)
  return { path, statusCode, body, total: headers['x-total'] }
}
/** Another parameter makes another answer. */
const fresh = async (asker: Asker, path: string) => ({
  ...(await shown(asker, `${path}${path.includes('?') ? '&' : '?'}again=${++count}`)),
  path
})

/** Compares what askers get with answers that are made at this moment. */
async function compare(t: Test, askers: readonly Asker[], paths: readonly string[], why: string): Promise<void> {
  for (const asker of askers) {
    for (const path of paths) t.same(await shown(asker, path), await fresh(asker, path), `${why}: ${path}`)
  }
}

/** Reads twice, so that answers are kept. */
async function keep(askers: readonly Asker[], paths: readonly string[]): Promise<void> {
  for (const asker of askers) for (const path of paths) for (const _ of [1, 2]) await asker.get(path)
}

t.test('a read whose answer is kept takes one statement, and answers the same', async t => {
  const project = await app.make.project()
  const owner = app.as(project.owner)
  const { id } = (await owner.post(`/projects/${project.id}/issues`, { title: 'x', labels: 'one' })).json()
  await owner.post(`/projects/${project.id}/issues/${id}/notes`, { body: 'Well' })
  for (const path of pathsOf(project.id, { issue_id: id })) {
    const first = await owner.get(path)
    t.equal(first.statusCode, 200, path)
    t.equal(await countStatements(() => owner.get(path)), 1, path)
    const again = await owner.get(path)
    const { 'x-request-id': _, date, ...headers } = first.headers
    t.match(again.headers, headers, path)
    t.equal(again.body, first.body)
    t.same(Object.keys(again.headers).sort(), Object.keys(first.headers).sort())
    const known = await owner.inject({
      method: 'GET',
      url: `/api/v3${path}`,
      headers: { 'if-none-match': String(first.headers.etag) }
    })
    t.equal(known.statusCode, 304, path)
    t.equal(known.body, '')
  }
})

t.test('a client that has the answer already gets 304, and the answer is kept', async t => {
  const project = await app.make.project()
  const owner = app.as(project.owner)
  await owner.post(`/projects/${project.id}/issues`, { title: 'x' })
  const path = `/projects/${project.id}/issues`
  const { etag } = (await owner.get(path)).headers
  const poll = () =>
    owner.inject({ method: 'GET', url: `/api/v3${path}?again=1`, headers: { 'if-none-match': String(etag) } })
  t.equal((await poll()).statusCode, 304)
  const statements = await countStatements(async () => t.equal((await poll()).statusCode, 304))
  t.equal(statements, 1)
})

t.test('a list of 400 labels is kept, which has no pages', async t => {
  const project = await app.make.project()
  const owner = app.as(project.owner)
  const titles = Array.from({ length: 400 }, (_, at) => `label ${at}`)
  await execute(
    `insert into labels (project_id, title, color, created_at, updated_at) values ${titles.map(() => '(?, ?, ?, ?, ?)').join(', ')}`,
    titles.flatMap(title => [project.id, title, '#ff0000', new Date(), new Date()]),
    project.id
  )
  const path = `/projects/${project.id}/labels`
  const first = await owner.get(path)
  t.equal(first.json().length, titles.length)
  t.equal(await countStatements(async () => t.equal((await owner.get(path)).body, first.body)), 1)
  await owner.put(path, { name: 'label 7', new_name: 'renamed' })
  t.match((await owner.get(path)).body, '"renamed"')
})

t.test('an answer with a very long address is not kept', async t => {
  const project = await app.make.project()
  const owner = app.as(project.owner)
  const path = `/projects/${project.id}/labels?again=${'x'.repeat(500)}`
  await owner.get(path)
  t.ok((await countStatements(() => owner.get(path))) > 1)
})

t.test('a full page of to-dos is kept, and shows each change at once', async t => {
  const project = await app.make.project()
  const owner = app.as(project.owner)
  const user = await app.make.member(project, DEVELOPER)
  const me = app.as(user)
  const issues = `/projects/${project.id}/issues`
  const made = []
  for (const title of ['one', 'two', 'three']) {
    made.push((await owner.post(issues, { title, assignee_id: user.id, labels: 'a' })).json())
  }
  const paths = ['/todos', '/todos?per_page=2', '/todos?per_page=2&page=2']
  const group = await app.make.group({ owner: project.owner })
  await app.make.groupMember(group, DEVELOPER, user)
  const [, full = ''] = paths
  // The first request reads the list, and the second one what proves its page.
  for (let times = 0; times < 2; times++) await me.get(full)
  const few = await countStatements(() => me.get(full))
  t.ok(few <= 3, `${few} statements: the proof, the last change, and the caller`)
  const [{ id } = { id: 0 }] = made
  const changes: { readonly [what: string]: () => Promise<unknown> } = {
    'a new title': () => owner.put(`${issues}/${id}`, { title: 'renamed' }),
    'a note': () => owner.post(`${issues}/${id}/notes`, { body: 'Well' }),
    'a label': () => owner.put(`${issues}/${id}`, { labels: 'b' }),
    'a vote': () => me.post(`${issues}/${id}/award_emoji?name=thumbsup`),
    'a new name': async () => app.as(await app.make.admin()).put(`/users/${project.owner.id}`, { name: 'Renamed' }),
    'a confidential issue': () => owner.put(`${issues}/${id}`, { confidential: true }),
    'a new name of the project': () => owner.put(`/projects/${project.id}`, { name: 'Renamed' }),
    'no issues': () => owner.put(`/projects/${project.id}`, { issues_enabled: false }),
    'issues again': () => owner.put(`/projects/${project.id}`, { issues_enabled: true }),
    'a to-do that is done': async () => me.delete(`/todos/${(await me.get('/todos')).json()[0].id}`),
    'a deleted issue': () => owner.delete(`${issues}/${id}`),
    'a share': () => owner.post(`/projects/${project.id}/share`, { group_id: group.id, group_access: DEVELOPER }),
    'a member who left': () => owner.delete(`/projects/${project.id}/members/${user.id}`),
    'the end of the share': () => owner.delete(`/projects/${project.id}/share/${group.id}`)
  }
  for (const [what, change] of Object.entries(changes)) {
    await keep([me], paths)
    await change()
    await compare(t, [me], paths, what)
  }
})

t.test('no write of the API leaves an old answer', async t => {
  const world = await makeWorld(async () => undefined)
  const { project } = await subject(world)
  const askers = [app.as(world.users.owner as never), app.as(world.users.guest as never), app.as(world.admin)]
  let succeeded = 0
  for (const { project: routes = {} } of await allAccess()) {
    for (const [route, { specimen }] of Object.entries(routes)) {
      const [method = '', pattern = ''] = route.split(' ')
      if (method === 'GET' || !pattern.startsWith('/api/v3/projects/:id/') || !CONTENT.test(pattern)) continue
      for (const actor of ['owner', 'admin'] as const) {
        const unique = `${actor}-kept-${++count}`
        const user = world.users[actor] ?? world.admin
        const made = (await specimen?.({ world, actor, user, unique, project, group: world.groups.private })) ?? {}
        const params = { id: project.id, ...made.params }
        const paths = pathsOf(project.id, params)
        await keep(askers, paths)
        const { statusCode } = await app.fastify.inject({
          method: method as 'POST',
          url: pattern.replaceAll(/:(\w+)/g, (_, name: string) => String((params as Record<string, unknown>)[name])),
          headers: { ...made.headers, 'private-token': user.privateToken },
          ...(made.query ? { query: made.query as Record<string, string> } : {}),
          ...(made.payload === undefined ? {} : { payload: made.payload })
        })
        if (statusCode < 300) succeeded += 1
        await compare(t, askers, paths, route)
      }
    }
  }
  t.ok(succeeded > 60, `${succeeded} writes have succeeded`)
  await keep(askers, pathsOf(project.id))
  await app.runJobs()
  await compare(t, askers, pathsOf(project.id), 'the jobs of all these writes')
})

/** The routes that write what the kept answers show, and what decides who sees it. */
const CONTENT = /\/(issues|labels|merge_requests|milestones|notes|award_emoji|boards|members|subscription|todo|share)\b/

async function subject(world: World): Promise<{ project: TestProject }> {
  const project = world.projects.internal
  const owner = app.as(world.users.owner as never)
  for (const title of ['first', 'second']) {
    await owner.post(`/projects/${project.id}/issues`, { title, labels: 'a,b', confidential: title === 'second' })
  }
  return { project }
}

t.test('writes of every day move the version of their project only', async t => {
  const project = await makeProject()
  const other = await app.make.project({ owner: project.owner })
  const owner = app.as(project.owner)
  const member = await app.make.member(project, DEVELOPER)
  const at = `/projects/${project.id}`
  const { id } = (await owner.post(`${at}/issues`, { title: 'x', labels: 'one' })).json()
  const { id: moving } = (await owner.post(`${at}/issues`, { title: 'y', labels: 'one' })).json()
  const issue = `${at}/issues/${id}`
  const mergeRequest = await makeMergeRequest(project, {})
  const merge = `${at}/merge_requests/${mergeRequest.id}`
  const note = (await owner.post(`${issue}/notes`, { body: 'Well' })).json().id
  const milestone = (await owner.post(`${at}/milestones`, { title: 'first' })).json().id
  await app.runJobs()
  const writes: { readonly [what: string]: () => Promise<{ readonly statusCode: number }> } = {
    mention: () => owner.post(`${issue}/notes`, { body: `@${member.username} :) !${mergeRequest.iid}` }),
    'edited note': () => owner.put(`${issue}/notes/${note}`, { body: 'Better' }),
    award: () => owner.post(`${issue}/award_emoji?name=tada`),
    'award of a note': () => owner.post(`${issue}/notes/${note}/award_emoji?name=tada`),
    'deleted note': () => owner.delete(`${issue}/notes/${note}`),
    commands: () => owner.post(`${issue}/notes`, { body: 'Done\n/estimate 1h\n/spend 1h\n/close' }),
    label: () => owner.post(`${at}/labels`, { name: 'bug', color: '#ff0000', priority: 1 }),
    'changed label': () => owner.put(`${at}/labels`, { name: 'bug', color: '#00ff00', priority: null }),
    subscription: () => owner.post(`${at}/labels/bug/subscription`),
    'deleted label': () => owner.delete(`${at}/labels?name=bug`),
    milestone: () => owner.post(`${at}/milestones`, { title: 'second' }),
    'closed milestone': () => owner.put(`${at}/milestones/${milestone}`, { state_event: 'close' }),
    'changed merge request': () => owner.put(merge, { title: 'other', labels: 'one,two', milestone_id: milestone }),
    'note on it': () => owner.post(`${merge}/notes`, { body: 'Well' }),
    'merged it': () => owner.put(`${merge}/merge`),
    'moved issue': () => owner.post(`${at}/issues/${moving}/move`, { to_project_id: other.id }),
    'deleted issue': () => owner.delete(issue)
  }
  for (const [what, write] of Object.entries(writes)) {
    const before = await versionOf(0)
    const own = await versionOf(project.id)
    const { statusCode } = await write()
    await app.runJobs()
    t.ok(statusCode < 300, `${what}: ${statusCode}`)
    t.equal(await versionOf(0), before, what)
    t.ok((await versionOf(project.id)) > own || what === 'subscription', what)
  }
})

const versionOf = async (id: number): Promise<number> =>
  Number(
    (await rows<{ version: number }>('select version from content_versions where project_id = ?', [id]))[0]?.version
  ) || 0

t.test('changes of people and of the project count at once', async t => {
  const project = await app.make.project()
  const owner = app.as(project.owner)
  const admin = app.as(await app.make.admin())
  const author = await app.make.member(project, DEVELOPER)
  const guest = await app.make.member(project, GUEST)
  const askers = [owner, admin, app.as(guest)]
  const issues = `/projects/${project.id}/issues`
  const { id } = (await app.as(author).post(issues, { title: 'of the author', labels: 'a', confidential: true })).json()
  await app.as(author).post(`${issues}/${id}/notes`, { body: 'Well' })
  const paths = pathsOf(project.id, { issue_id: id })
  const changes: { readonly [what: string]: () => Promise<unknown> } = {
    'a new name': () => admin.put(`/users/${author.id}`, { name: 'Renamed' }),
    'a new username': () => admin.put(`/users/${author.id}`, { username: 'renamed-author' }),
    'a blocked user': () => admin.put(`/users/${author.id}/block`),
    'a higher level': () => owner.put(`/projects/${project.id}/members/${guest.id}`, { access_level: DEVELOPER }),
    'a lower level': () => owner.put(`/projects/${project.id}/members/${guest.id}`, { access_level: GUEST }),
    'another path': () => owner.put(`/projects/${project.id}`, { path: 'another-path' }),
    'no merge requests': () => owner.put(`/projects/${project.id}`, { merge_requests_enabled: false }),
    'a write by another program': () =>
      transact(() => execute("update issues set title = 'by hand' where id = ?", [id], project.id)),
    'a removed member': () => owner.delete(`/projects/${project.id}/members/${guest.id}`),
    'a deleted user': () => admin.delete(`/users/${author.id}`),
    'the jobs after that': () => app.runJobs()
  }
  for (const [what, change] of Object.entries(changes)) {
    await keep(askers, paths)
    await change()
    await compare(t, askers, paths, what)
  }
})

t.test('the statements themselves say what they change and read', async t => {
  const changing = [
    'update issues set title = ? where id = ?',
    'insert ignore into label_links (a) select 1',
    'delete k from label_links k join labels l on l.id = k.label_id',
    'with old as (select 1 as id) delete from notes where id in (select id from old)',
    '/* why */ update issues set title = ?',
    'insert low_priority into labels (title) values (?)',
    'insert labels (title) values (?)',
    'truncate notes',
    'insert into users (id, name) values (?, ?) on duplicate key update name = ?',
    'UPDATE `users` SET `name`=?,`updated_at`=? WHERE `id` = ?',
    'delete from users where id = ?',
    'update namespaces set description = ? where id = ?',
    'update namespaces set held = 1 - held, path = ? where id = ?',
    'UPDATE `namespaces` SET `path`=? WHERE `id` = ?'
  ]
  for (const sql of changing) t.ok(changesContent(sql), sql)
  const others = [
    'select * from issues for update',
    'update jobs set state = ? where id = ?',
    'insert into users (name) values (?)',
    'insert into namespaces (name) values (?)',
    'update users set held = 1 - held where id = ?',
    'update namespaces set held = 1 - held where id = ?',
    'UPDATE `users` SET `last_sign_in_at`=? WHERE `id` = ?'
  ]
  for (const sql of others) t.notOk(changesContent(sql), sql)
  t.ok(
    readsContentOnly('select straight_join i.id from (select 1 from issues) x left join users u on u.id = i.author_id')
  )
  const unproven = [
    'select 1 from members',
    'select 1 from issues i, members m',
    'select 1 from issues as i, members m',
    'select 1 from issues i join (labels l join members m)',
    'select 1 from issues i join labels l on true, Members m',
    'select 1',
    ''
  ]
  for (const sql of unproven) t.notOk(readsContentOnly(sql), sql)
})

t.test('a change moves the version with its commit, and only then', async t => {
  const project = await app.make.project()
  const version = async () =>
    (
      await rows<{ v: string }>(
        'select coalesce(sum(version), 0) as v from content_versions where project_id in (0, ?)',
        [project.id]
      )
    )[0]?.v
  const write = () =>
    execute('insert into labels (project_id, title, color, created_at, updated_at) values (?, ?, ?, now(), now())', [
      project.id,
      `l${++count}`,
      '#fff'
    ])
  const before = await version()
  const fails = async () => {
    await write()
    throw new Error('no')
  }
  await t.rejects(transact(fails))
  t.equal(await version(), before, 'a change that is rolled back')
  await write()
  const after = await version()
  t.ok(Number(after) > Number(before), 'a change without a transaction of its rule gets one')
  await transact(async () => {
    await write()
    t.equal(await version(), after)
  })
  t.ok(Number(await version()) > Number(after))
  const last = await version()
  await execute('delete from labels where id = 0')
  await execute('update labels set title = title where id = 0')
  t.equal(await version(), last, 'a statement that finds no row changes nothing')
  await t.rejects(sequelize().query("update users set name = 'x' where id = 0"), /needs a transaction/)
})
