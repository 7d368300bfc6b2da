// Kept rows of projects: each list shows every change at once, also those that another process has made.
import { lockRow } from '../../../../../src/db/connect/lock-row.js'
import { execute, rows } from '../../../../../src/db/connect/sql.js'
import { transact } from '../../../../../src/db/connect/transact.js'
import { DEVELOPER, GUEST, MASTER, REPORTER } from '../../../../../src/lib/levels.js'
import { encrypt } from '../../../../../src/secrets.js'
import { allAccess } from '../../../../access/files.js'
import { makeWorld } from '../../../../access/world.js'
import { type Asker, testApp } from '../../../../helpers/app.js'
import { countStatements } from '../../../../helpers/statements.js'
import t, { type Test } from '../../../../helpers/tap.js'

const app = await testApp(t)

type Listed = { readonly id: number }

/** Compares the record in lists with the single record, which is never kept. */
async function compare(t: Test, id: number, asked: readonly (readonly [Asker, string])[], why: string): Promise<void> {
  for (const [asker, path] of asked) {
    const single = await asker.get(`/projects/${id}`)
    const list = (await asker.get(path, { per_page: 100 })).json() as Listed[]
    const listed = list.find(project => project.id === id)
    t.same(listed, single.statusCode === 200 ? single.json() : undefined, `${why}: ${path}`)
  }
}

t.test('a list whose rows are kept answers the same, with one statement less', async t => {
  const owner = await app.make.user()
  for (const _ of [1, 2, 3]) await app.make.project({ owner })
  const ask = () => app.as(owner).get('/projects/owned')
  const first = await ask()
  t.equal(first.json().length, 3)
  const again = await ask()
  t.equal(again.body, first.body)
  const { 'x-request-id': _, date, ...headers } = first.headers
  t.match(again.headers, headers)
  t.equal(await countStatements(ask), 2, 'the caller and the page')
  const known = await app.as(owner).inject({
    method: 'GET',
    url: '/api/v3/projects/owned',
    headers: { 'if-none-match': String(first.headers.etag) }
  })
  t.equal(known.statusCode, 304)
  await transact(() => lockRow('projects', first.json()[0].id))
  t.equal(await countStatements(ask), 2, 'a lock changes nothing')
  await app.make.project({ owner })
  t.equal(await countStatements(ask), 3, 'the rows that are not kept, too')
  t.equal((await ask()).json().length, 4)
})

t.test('every column of a project counts, also when another program writes it', async t => {
  const project = await app.make.project()
  const asked = [
    [app.as(project.owner), '/projects/owned'],
    [app.as(await app.make.admin()), '/projects/all']
  ] as const
  const values: { readonly [column: string]: string | number | Date | Buffer | null } = {
    name: 'Other name',
    path: 'other-path',
    description: "'of, \\' NULL",
    default_branch: 'other',
    visibility_level: 10,
    archived: 1,
    issues_enabled: 0,
    merge_requests_enabled: 0,
    builds_enabled: 0,
    wiki_enabled: 0,
    snippets_enabled: 0,
    container_registry_enabled: 0,
    lfs_enabled: 0,
    shared_runners_enabled: 0,
    public_builds: 0,
    request_access_enabled: 0,
    only_allow_merge_if_build_succeeds: 1,
    only_allow_merge_if_all_discussions_are_resolved: 1,
    tag_list: '["one"]',
    avatar: 'secret/name.png',
    star_count: 7,
    forks_count: 8,
    creator_id: null,
    runners_token_encrypted: encrypt('another-token'),
    import_state: 'failed',
    import_error: 'why',
    last_activity_at: new Date('2026-01-02T03:04:05.678Z'),
    created_at: new Date('2026-01-02T03:04:05.679Z')
  }
  await compare(t, project.id, asked, 'before')
  for (const [column, value] of Object.entries(values)) {
    await execute(`update projects set ${column} = ? where id = ?`, [value, project.id])
    // The list of the administrator leaves archived projects out.
    if (column === 'archived') await execute('update projects set archived = 0 where id = ?', [project.id])
    await compare(t, project.id, asked, column)
  }
})

t.test('a null is not the text NULL', async t => {
  const project = await app.make.project()
  const description = async () => (await app.as(project.owner).get('/projects/owned')).json()[0].description
  for (const value of ['NULL', null, '', 'NULL']) {
    await execute('update projects set description = ? where id = ?', [value, project.id])
    t.equal(await description(), value)
  }
})

t.test('changes of the namespace, the owner, issues, stars, forks, shares and levels count', async t => {
  const admin = await app.make.admin()
  const project = await app.make.project({ visibility_level: 10 })
  const { owner } = project
  const group = await app.make.group({ owner, visibilityLevel: 10 })
  const grouped = await app.make.project({ owner, group, visibility_level: 10 })
  const member = await app.make.member(project, GUEST)
  const other = await app.make.user()
  const at = `/projects/${project.id}`
  const [asOwner, asAdmin, asOther] = [app.as(owner), app.as(admin), app.as(other)]
  const asked = [
    [asOwner, '/projects/owned'],
    [asOwner, '/projects'],
    [asAdmin, '/projects/all'],
    [asAdmin, '/projects/visible'],
    [app.as(member), '/projects'],
    [asOther, '/projects/visible']
  ] as const
  const askedOfGroup = [
    [asAdmin, '/projects/all'],
    [asAdmin, `/groups/${group.id}/projects`],
    [asOther, '/projects/visible']
  ] as const
  const changes: { readonly [what: string]: () => Promise<{ readonly statusCode: number }> } = {
    'an issue': () => asOwner.post(`${at}/issues`, { title: 'x' }),
    'a confidential issue': () => asOwner.post(`${at}/issues`, { title: 'y', confidential: true }),
    'a higher level': () => asOwner.put(`${at}/members/${member.id}`, { access_level: REPORTER }),
    'the level of a Master': () => asOwner.put(`${at}/members/${member.id}`, { access_level: MASTER }),
    'a notification level': () => app.as(member).put(`${at}/notification_settings`, { level: 'watch' }),
    'a star': () => asOther.post(`${at}/star`),
    'no star': () => asOther.delete(`${at}/star`),
    'a fork': () => asOther.post(`/projects/fork/${project.id}`),
    'a share': () => asOwner.post(`${at}/share`, { group_id: group.id, group_access: DEVELOPER }),
    'an update': () => asOwner.put(at, { description: 'new', path: 'new-path' }),
    'a new name of the owner': () => asAdmin.put(`/users/${owner.id}`, { name: 'Renamed' }),
    'a new username of the owner': () => asAdmin.put(`/users/${owner.id}`, { username: 'renamed-owner' }),
    'a new name of the group': () => asAdmin.put(`/groups/${group.id}`, { name: 'Renamed', description: 'other' }),
    'a new path of the group': () => asAdmin.put(`/groups/${group.id}`, { path: 'renamed-group' }),
    'a membership of the group': () =>
      asAdmin.post(`/groups/${group.id}/members`, { user_id: other.id, access_level: DEVELOPER }),
    'no share': () => asOwner.delete(`${at}/share/${group.id}`),
    'a removed member': () => asOwner.delete(`${at}/members/${member.id}`)
  }
  for (const [what, change] of Object.entries(changes)) {
    for (const [asker, path] of [...asked, ...askedOfGroup]) await asker.get(path, { per_page: 100 })
    const { statusCode, ...more } = await change()
    t.ok(statusCode < 300, `${what}: ${statusCode} ${(more as { body?: string }).body ?? ''}`.slice(0, 200))
    await compare(t, project.id, what === 'a removed member' ? asked.slice(0, 4) : asked, what)
    await compare(t, grouped.id, askedOfGroup, what)
    await app.runJobs()
    await compare(t, project.id, what === 'a removed member' ? asked.slice(0, 4) : asked, `${what}, after its jobs`)
  }
})

t.test('a list inside a transaction that is rolled back leaves nothing', async t => {
  const project = await app.make.project()
  const { listProjects } = await import('../../../../../src/areas/projects/projects/project-list.queries.js')
  const { actorOf } = await import('../../../../../src/access/actor.js')
  const namespace = async () =>
    (await listProjects('owned', {}, actorOf(project.owner, 'token' as never))).items[0]?.namespace_description
  const [found] = await rows<{ id: number }>('select namespace_id as id from projects where id = ?', [project.id])
  const fails = async () => {
    await execute("update namespaces set description = 'never' where id = ?", [found?.id ?? 0])
    t.equal(await namespace(), 'never')
    throw new Error('no')
  }
  await t.rejects(transact(fails))
  t.not(await namespace(), 'never')
})

t.test('no write of the API leaves an old row', async t => {
  const world = await makeWorld(async () => undefined)
  const project = world.projects.internal
  const owner = world.users.owner as never
  const asked = [
    [app.as(owner), '/projects'],
    [app.as(world.users.guest as never), '/projects'],
    [app.as(world.users.stranger as never), '/projects/visible'],
    [app.as(world.admin), '/projects/all']
  ] as const
  let succeeded = 0
  for (const { project: routes = {} } of await allAccess()) {
    for (const [route, { specimen }] of Object.entries(routes)) {
      const [method = '', pattern = ''] = route.split(' ')
      if (method === 'GET' || route === 'DELETE /api/v3/projects/:id' || !CONCERNED.test(pattern)) continue
      const unique = `kept-${succeeded}-${method.toLowerCase()}`
      const asking = { world, actor: 'owner', user: owner, unique, project, group: world.groups.private } as const
      const made = (await specimen?.(asking)) ?? {}
      const params: { readonly [name: string]: string | number } = { id: project.id, ...made.params }
      for (const [asker, path] of asked) await asker.get(path, { per_page: 100 })
      const { statusCode } = await app.fastify.inject({
        method: method as 'POST',
        url: pattern.replaceAll(/:(\w+)/g, (_, name: string) => String(params[name])),
        headers: { ...made.headers, 'private-token': (owner as { privateToken: string }).privateToken },
        ...(made.query ? { query: made.query as Record<string, string> } : {}),
        ...(made.payload === undefined ? {} : { payload: made.payload })
      })
      if (statusCode < 300) succeeded += 1
      await compare(t, project.id, asked, route)
    }
  }
  t.ok(succeeded > 10, `${succeeded} writes have succeeded`)
})

/** The routes that write what the record of a project shows. */
const CONCERNED =
  /^\/api\/v3\/projects\/(:id|:id\/(issues|members|share|star|archive|unarchive|avatar|fork|uploads|repository\/files|repository\/branches|notification_settings|milestones)\b.*)$/
