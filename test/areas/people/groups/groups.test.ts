import { publicUrl } from '../../../../src/config.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, GUEST, MASTER, OWNER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { waitingEvents } from '../../../helpers/published.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

type Asker = ReturnType<Awaited<ReturnType<typeof testApp>>['as']>

const paths = async (asker: Asker, path: string, query: Record<string, string | boolean | number> = {}) =>
  (await asker.get(path, query)).json().map((group: { path: string }) => group.path)

// This test comes first, while no other groups exist.
t.test('lists of groups', async t => {
  const app = await testApp(t)
  const { make } = app
  const user = await make.user()
  const external = await make.user({ external: true })
  const mine = await make.group({ path: 'mine', owner: user })
  const joined = await make.group({ path: 'joined' })
  await make.groupMember(joined, GUEST, user)
  await make.groupMember(await make.group({ path: 'ended' }), MASTER, user, '2020-01-01')
  await make.group({ path: 'hidden' })
  await make.group({ path: 'internal', visibilityLevel: 10 })
  await make.group({ path: 'open', visibilityLevel: 20 })
  const holding = await make.group({ path: 'holding' })
  const held = await make.project({ visibility_level: 20 })
  await execute('update projects set namespace_id = ? where id = ?', [holding.id, held.id])

  const [asker, admin] = [app.as(user), app.as(await make.admin())]
  t.same(await paths(asker, '/groups'), ['joined', 'mine'])
  t.same(await paths(asker, '/groups/owned'), ['mine'])
  t.same(await paths(asker, '/groups', { all_available: true }), ['holding', 'internal', 'joined', 'mine', 'open'])
  t.same(await paths(app.as(external), '/groups', { all_available: true }), ['holding', 'open'], 'an external user')
  t.same(await paths(admin, '/groups'), ['ended', 'hidden', 'holding', 'internal', 'joined', 'mine', 'open'])
  t.same(await paths(admin, '/groups/owned'), [])
  t.same(await paths(asker, '/groups', { search: 'INE' }), ['joined', 'mine'])
  t.same(await paths(asker, '/groups', { search: 'mi' }), ['mine'])
  t.same(await paths(asker, '/groups', { sort: 'desc', order_by: 'path' }), ['mine', 'joined'])
  t.same(await paths(asker, '/groups', { 'skip_groups[]': mine.id }), ['joined'])

  const page = await asker.get('/groups', { per_page: 1, page: 2 })
  t.same(page.json(), [{ id: mine.id, name: 'mine', path: 'mine', description: '' }], 'the attributes of an item')
  t.match(page.headers, { 'x-total': '2', 'x-total-pages': '2' })
  t.equal((await asker.get('/groups', { order_by: 'size' })).statusCode, 400)

  t.test('with statistics, by one statement more', async t => {
    const own = await make.project({ owner: user, namespace_id: mine.id })
    for (const [project, size] of [
      [own.id, 1000],
      [held.id, 70]
    ]) {
      await execute(
        `insert into project_statistics (project_id, commit_count, repository_size, build_artifacts_size, updated_at)
         values (?, 1, ?, 5, now())`,
        [project ?? 0, size ?? 0]
      )
    }
    const sizes = (repository: number, artifacts: number) => ({
      storage_size: repository + artifacts,
      repository_size: repository,
      lfs_objects_size: 0,
      build_artifacts_size: artifacts
    })
    const statistics = async (by: Asker, path: string) =>
      Object.fromEntries(
        (await by.get(path, { statistics: true }))
          .json()
          .map((group: { path: string; statistics?: object }) => [group.path, group.statistics])
      )
    t.match(await statistics(admin, '/groups'), { mine: sizes(1000, 5), holding: sizes(70, 5), open: sizes(0, 0) })
    t.same(await statistics(asker, '/groups'), { joined: undefined, mine: undefined }, 'only for administrators')
    t.same(await statistics(asker, '/groups/owned'), { mine: sizes(1000, 5) }, 'owners see those of their groups')
    const cost = (query: object) => countStatements(() => admin.get('/groups', { per_page: 100, ...query }))
    const plain = await cost({})
    t.equal(await cost({ statistics: true }), plain + 1)
    t.equal(await cost({ statistics: true, per_page: 1 }), plain + 1, 'however many groups the page has')
  })

  t.test('namespaces', async t => {
    t.same(await paths(asker, '/namespaces'), [user.username, 'mine', 'joined'])
    t.same((await asker.get('/namespaces', { search: 'mine' })).json(), [
      { id: mine.id, name: 'mine', path: 'mine', kind: 'group' }
    ])
    const all = await admin.get('/namespaces', { per_page: 100 })
    t.equal(Number(all.headers['x-total']), all.json().length)
    t.ok(all.json().some(({ path }: { path: string }) => path === external.username))
  })
})

t.test('POST /groups makes a group that the caller owns', async t => {
  const app = await testApp(t)
  const user = await app.make.user()
  const res = await app.as(user).post('/groups', { name: 'Team A', path: 'team-a', description: 'who we are' })
  t.equal(res.statusCode, 201)
  const { id, ...group } = res.json()
  t.same(group, {
    name: 'Team A',
    path: 'team-a',
    description: 'who we are',
    visibility_level: 0,
    lfs_enabled: true,
    avatar_url: null,
    web_url: `${publicUrl()}/groups/team-a`,
    request_access_enabled: false,
    projects: [],
    shared_projects: []
  })
  t.match((await app.as(user).get(`/groups/${id}/members`)).json(), [{ id: user.id, access_level: OWNER }])
  t.match((await waitingEvents('group.created')).at(-1), { group: { id, path: 'team-a' } })
  t.match((await waitingEvents('member.added')).at(-1), {
    member: { source: { type: 'namespace', id }, access_level: OWNER }
  })
  t.match(await row('select actor_id, target_name from audit_events where action = ?', ['group.create']), {
    actor_id: user.id,
    target_name: 'team-a'
  })
})

t.test('POST /groups refuses', async t => {
  const app = await testApp(t)
  const user = await app.make.user()
  const asker = app.as(user)
  const messageOf = async (body: object, by = asker) => {
    const res = await by.post('/groups', body)
    return [res.statusCode, res.json().message ?? res.json().error]
  }
  await app.make.group({ path: 'taken' })
  const failed = (errors: object) => [400, `Failed to save group ${JSON.stringify(errors)}`]
  const taken = failed({ path: ['has already been taken'] })
  t.same(await messageOf({ name: 'x', path: 'TAKEN' }), taken)
  t.same(await messageOf({ name: 'x', path: user.username }), taken, 'the name of a user')
  t.same(await messageOf({ name: 'x', path: 'api' }), failed({ path: ['is reserved'] }))
  t.same(await messageOf({ name: ' ', path: 'a b' }), [
    400,
    `Failed to save group ${JSON.stringify({
      name: ["can't be blank"],
      path: ["can contain only letters, digits, '_', '-' and '.'"]
    })}`
  ])
  const long = ['is too long (maximum is 255 characters)']
  for (const name of ['name', 'path', 'description']) {
    t.same(await messageOf({ name: 'x', path: 'y', [name]: 'x'.repeat(256) }), failed({ [name]: long }))
  }
  t.same(await messageOf({ name: 'x' }), [400, '400 (Bad request) "path" not given'])
  t.same((await messageOf({ name: 'x', path: 'y', visibility_level: 5 }))[0], 400)
  t.same((await messageOf({ name: ['x'], path: { a: 1 } }))[0], 400)
  await execute(`update application_settings set changed = '{"restricted_visibility_levels":[2]}'`)
  t.same(
    await messageOf({ name: 'x', path: 'y', visibility_level: 20 }),
    failed({ visibility_level: ['public visibility has been restricted by your administrator'] })
  )
  t.equal(
    (await messageOf({ name: 'x', path: 'by-admin', visibility_level: 20 }, app.as(await app.make.admin())))[0],
    201
  )
  await execute(`update application_settings set changed = '{"default_group_visibility":1}'`)
  t.equal((await asker.post('/groups', { name: 'x', path: 'by-default' })).json().visibility_level, 10)
  await execute(`update application_settings set changed = '{}'`)
  const other = await app.make.user({ can_create_group: false })
  t.same(await messageOf({ name: 'x', path: 'y' }, app.as(other)), [403, '403 Forbidden'])
  t.same(await row("select count(*) as total from namespaces where path in ('y', 'x')"), { total: 0 })
})

t.test('GET /groups/:id shows the projects that the caller sees', async t => {
  const app = await testApp(t)
  const { make } = app
  const owner = await make.user()
  const group = await make.group({ visibilityLevel: 20, owner })
  const hidden = await make.project({ owner, group, visibility_level: 0 })
  const open = await make.project({ owner, group, visibility_level: 20 })
  const shared = await make.project({ visibility_level: 20 })
  await make.share(shared, group, DEVELOPER)
  await make.share(await make.project({ visibility_level: 20 }), group, DEVELOPER, '2020-01-01')
  const shown = async (user: Parameters<typeof app.as>[0], id: string | number) => {
    const { projects, shared_projects } = (await app.as(user).get(`/groups/${id}`)).json()
    return [projects, shared_projects].map(list => list.map((project: { id: number }) => project.id))
  }
  t.same(await shown(owner, group.id), [[open.id, hidden.id], [shared.id]])
  t.same(await shown(await make.user(), group.path.toUpperCase()), [[open.id], [shared.id]])
  const res = await app.as(owner).get(`/groups/${group.id}`)
  t.notOk(res.headers['x-gitstead-truncated'])
  t.equal(res.json().projects[0].path_with_namespace, open.path)
})

t.test('PUT /groups/:id', async t => {
  const app = await testApp(t)
  const { make } = app
  const owner = await make.user()
  const group = await make.group({ visibilityLevel: 10, owner })
  const project = await make.project({ owner, group, name: 'inside', visibility_level: 10 })
  const asker = app.as(owner)
  const old = project.path

  const res = await asker.put(`/groups/${group.id}`, {
    path: 'moved',
    description: 'new',
    request_access_enabled: true
  })
  t.equal(res.statusCode, 200)
  t.match(res.json(), {
    path: 'moved',
    description: 'new',
    request_access_enabled: true,
    projects: [{ path_with_namespace: 'moved/inside' }]
  })
  t.match((await waitingEvents('project.renamed')).at(-1), {
    project: { path_with_namespace: 'moved/inside' },
    old_path_with_namespace: old
  })
  t.match(await row('select changes from audit_events where action = ?', ['group.update']), {
    changes: /"request_access_enabled":\{"before":false,"after":true\}/
  })

  t.equal((await asker.get(`/groups/${group.path}`)).json().id, group.id, 'the old path leads to it')
  t.equal((await asker.get(`/projects/${encodeURIComponent(old)}`)).json().id, project.id)

  const bad = async (body: object) => {
    const answer = await asker.put(`/groups/${group.id}`, body)
    return [answer.statusCode, answer.json().message]
  }
  t.same(await bad({ visibility_level: 0 }), [
    400,
    { visibility_level: ['private is not allowed since this group contains projects with higher visibility'] }
  ])
  t.same(await bad({ path: owner.username }), [400, { path: ['has already been taken'] }])
  t.same(await bad({ path: '-x' }), [400, { path: ["cannot start with '-'"] }])
  t.match((await bad({}))[1], /at least one parameter must be provided/)
  t.equal((await asker.get('/groups/moved')).json().visibility_level, 10, 'nothing has changed')
})

t.test('DELETE /groups/:id removes its projects', async t => {
  const app = await testApp(t)
  const { make } = app
  const owner = await make.user()
  const group = await make.group({ owner })
  const project = await make.project({ owner, group })
  const elsewhere = await make.project({ owner })
  await make.share(elsewhere, group, DEVELOPER)
  await make.accessRequest('namespace', group)
  const res = await app.as(owner).delete(`/groups/${group.path}`)
  t.equal(res.statusCode, 200)
  t.match(res.json(), { id: group.id, path: group.path, projects: [{ id: project.id }] })
  t.equal((await app.as(owner).get(`/groups/${group.id}`)).statusCode, 404)
  t.equal((await app.as(owner).get(`/projects/${project.id}`)).statusCode, 404)
  t.equal((await app.as(owner).get(`/projects/${elsewhere.id}`)).statusCode, 200)
  t.match((await waitingEvents('group.deleted')).at(-1), { group: { id: group.id } })
  t.match((await waitingEvents('project.deleted')).at(-1), { project: { id: project.id } })
  for (const table of ['members', 'access_requests']) {
    const left = await row(`select count(*) as total from ${table} where source_type = 'namespace' and source_id = ?`, [
      group.id
    ])
    t.same(left, { total: 0 }, table)
  }
  t.same(await row('select count(*) as total from project_group_links where group_id = ?', [group.id]), { total: 0 })
  t.match(await row('select changes from audit_events where action = ?', ['group.delete']), {
    changes: new RegExp(project.path)
  })
})

t.test('POST /projects in a group', async t => {
  const app = await testApp(t)
  const { make } = app
  const group = await make.group({ visibilityLevel: 10 })
  const master = await make.groupMember(group, MASTER, await make.user({ projects_limit: 0 }))
  const created = await app.as(master).post('/projects', { name: 'in-group', namespace_id: group.id })
  t.equal(created.statusCode, 201, 'the limit of projects does not count in groups')
  t.match(created.json(), {
    path_with_namespace: `${group.path}/in-group`,
    namespace: { id: group.id, kind: 'group' },
    permissions: { project_access: null, group_access: { access_level: MASTER } }
  })
  t.notOk(created.json().owner)
  t.same((await app.as(master).get(`/projects/${created.json().id}/members`)).json(), [])

  const refusal = async (user: Parameters<typeof app.as>[0], body: object) => {
    const res = await app.as(user).post('/projects', { name: 'other', namespace_id: group.id, ...body })
    return [res.statusCode, res.json().message]
  }
  const invalid = [400, { namespace: ['is not valid'] }]
  t.same(await refusal(await make.groupMember(group, DEVELOPER), {}), invalid)
  t.same(await refusal(await make.groupMember(group, OWNER, undefined, '2020-01-01'), {}), invalid, 'it has ended')
  t.same(await refusal(await make.user(), {}), invalid)
  t.same(await refusal(master, { visibility_level: 20 }), [
    400,
    { visibility_level: ['cannot be higher than the level of the group'] }
  ])
  t.equal((await refusal(await make.admin(), {}))[0], 201)
})
