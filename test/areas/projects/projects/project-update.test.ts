import { findProject } from '../../../../src/areas/projects/projects/projects.queries.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, GUEST, MASTER, OWNER } from '../../../../src/lib/levels.js'
import { type TestApp, testApp } from '../../../helpers/app.js'
import { actorOf, type TestGroup, type TestProject } from '../../../helpers/factory.js'
import { waitingEvents } from '../../../helpers/published.js'
import t from '../../../helpers/tap.js'

/** Moves a project into a group by its row, for tests of what holds in groups. */
const intoGroup = (project: TestProject, group: TestGroup) =>
  execute('update projects set namespace_id = ? where id = ?', [group.id, project.id])

const auditOf = ({ id }: TestProject) =>
  rows<{ action: string; changes: string }>(
    "select action, changes from audit_events where target_type = 'project' and target_id = ? order by id",
    [String(id)]
  )

t.test('PUT /projects/:id', async t => {
  const app = await testApp(t)

  t.test('changes every setting, and keeps the audit', async t => {
    const project = await app.make.project()
    const change = {
      description: 'new',
      issues_enabled: false,
      merge_requests_enabled: false,
      wiki_enabled: false,
      builds_enabled: false,
      snippets_enabled: true,
      shared_runners_enabled: false,
      container_registry_enabled: false,
      public_builds: false,
      request_access_enabled: true,
      only_allow_merge_if_build_succeeds: true,
      only_allow_merge_if_all_discussions_are_resolved: true
    }
    const res = await app.as(project.owner).put(`/projects/${project.id}`, change)
    t.equal(res.statusCode, 200)
    t.match(res.json(), change)
    const [entry] = (await auditOf(project)).filter(({ action }) => action === 'project.update')
    t.match(JSON.parse(entry?.changes ?? '{}'), { wiki_enabled: { before: true, after: false } })
  })

  t.test('asks for one attribute at least', async t => {
    const project = await app.make.project()
    const res = await app.as(project.owner).put(`/projects/${project.id}`)
    t.equal(res.statusCode, 400)
    t.match(res.json().error, /at least one parameter must be provided$/)
  })

  t.test('leaves the name and the visibility to the owner', async t => {
    const project = await app.make.project()
    const master = await app.make.member(project, MASTER)
    for (const change of [{ name: 'other' }, { visibility_level: 20 }, { public: true }]) {
      t.equal((await app.as(master).put(`/projects/${project.id}`, change)).statusCode, 403, JSON.stringify(change))
    }
    t.equal((await app.as(master).put(`/projects/${project.id}`, { description: 'x' })).statusCode, 200)
    t.match((await app.as(project.owner).get(`/projects/${project.id}`)).json(), { public: false })
  })

  t.test('public stands for a visibility level, which overrides it', async t => {
    const project = await app.make.project()
    const put = async (body: object) => (await app.as(project.owner).put(`/projects/${project.id}`, body)).json()
    t.match(await put({ public: true }), { visibility_level: 20, public: true })
    t.match(await put({ public: true, visibility_level: 10 }), { visibility_level: 10, public: false })
    t.match(await put({ public: false }), { visibility_level: 0 })
  })

  t.test('a project is hidden from the next request on when it is made private', async t => {
    const project = await app.make.project({ visibility_level: 20 })
    const stranger = await app.make.user()
    t.equal((await app.as(stranger).get(`/projects/${project.id}`)).statusCode, 200)
    await app.as(project.owner).put(`/projects/${project.id}`, { visibility_level: 0 })
    t.equal((await app.as(stranger).get(`/projects/${project.id}`)).statusCode, 404)
  })

  t.test('names the attribute that is wrong, and changes nothing', async t => {
    const project = await app.make.project()
    const other = await app.make.project({ owner: project.owner, name: 'Taken', path: 'taken' })
    const cases = [
      [{ name: 'Taken' }, { name: ['has already been taken'] }],
      [{ path: 'TAKEN' }, { path: ['has already been taken'] }],
      [{ path: 'a b' }, { path: ["can contain only letters, digits, '_', '-' and '.'"] }],
      [{ path: 'a.git' }, { path: ["cannot end in '.git' or '.atom'"] }],
      [{ name: '' }, { name: ["can't be blank"] }],
      [{ default_branch: 'nope', description: 'changed' }, { default_branch: ['does not exist'] }]
    ] as const
    for (const [change, message] of cases) {
      const res = await app.as(project.owner).put(`/projects/${project.id}`, change)
      t.equal(res.statusCode, 400, JSON.stringify(change))
      t.same(res.json(), { message })
    }
    for (const change of [{ visibility_level: 5 }, { name: { a: 1 } }, { path: ['a'] }, { public: 'perhaps' }]) {
      t.equal((await app.as(project.owner).put(`/projects/${project.id}`, change)).statusCode, 400)
    }
    t.match((await app.as(project.owner).get(`/projects/${project.id}`)).json(), { description: null })
    t.not(other.id, project.id)
  })

  t.test('a project cannot be above the visibility of its group', async t => {
    const project = await app.make.project()
    const group = await app.make.group({ visibilityLevel: 10 })
    const owner = await app.make.groupMember(group, OWNER)
    await intoGroup(project, group)
    const res = await app.as(owner).put(`/projects/${project.id}`, { visibility_level: 20 })
    t.equal(res.statusCode, 400)
    t.same(res.json(), { message: { visibility_level: ['public is not allowed in a internal group'] } })
    t.equal((await app.as(owner).put(`/projects/${project.id}`, { visibility_level: 10 })).statusCode, 200)
  })

  t.test('a level that the settings restrict is for administrators', async t => {
    const project = await app.make.project()
    const admin = await app.make.admin()
    await app.as(admin).put('/application/settings', { restricted_visibility_levels: [2] })
    t.teardown(() => app.as(admin).put('/application/settings', { restricted_visibility_levels: [] }))
    const put = (as: typeof admin) => app.as(as).put(`/projects/${project.id}`, { visibility_level: 20 })
    t.equal((await put(project.owner)).statusCode, 400)
    t.equal((await put(admin)).statusCode, 200)
  })

  t.test('sets the default branch to one that exists', async t => {
    const project = await app.make.project()
    await app.make.file(project, 'a', '1')
    await app.make.file(project, 'a', '2', 'develop').catch(() => undefined)
    await execute("update projects set default_branch = 'other' where id = ?", [project.id])
    const res = await app.as(project.owner).put(`/projects/${project.id}`, { default_branch: 'master' })
    t.match(res.json(), { default_branch: 'master' })
  })
})

t.test('another path', async t => {
  const app = await testApp(t)
  const project = await app.make.project({ name: 'Old', path: 'old' })
  const { owner } = project
  const namespace = owner.username
  const res = await app.as(owner).put(`/projects/${project.id}`, { path: 'young' })
  t.match(res.json(), { path: 'young', path_with_namespace: `${namespace}/young` })
  const at = async (path: string) => (await app.as(owner).get(`/projects/${encodeURIComponent(path)}`)).json().id

  t.test('is sent to system hooks', async t => {
    t.match(await waitingEvents('project.renamed'), [
      { project: { path_with_namespace: `${namespace}/young` }, old_path_with_namespace: `${namespace}/old` }
    ])
  })

  t.test('the old one redirects to the project, in upper or lower case', async t => {
    t.equal(await at(`${namespace}/old`), project.id)
    t.equal(await at(`${namespace}/OLD`), project.id)
  })

  t.test('the old one shows nothing to those who may not see the project', async t => {
    const stranger = await app.make.user()
    const answer = await app.as(stranger).get(`/projects/${encodeURIComponent(`${namespace}/old`)}`)
    t.equal(answer.statusCode, 404)
    t.same(answer.json(), { message: '404 Project Not Found' })
  })

  t.test('an old username in it leads there too', async t => {
    const admin = await app.make.admin()
    await app.as(admin).put(`/users/${owner.id}`, { username: `${namespace}-new` })
    t.equal(await at(`${namespace}/old`), project.id)
    t.equal(await at(`${namespace}/young`), project.id)
    t.equal(await at(`${namespace}-new/old`), project.id)
    await execute('update namespace_redirects set reserved = false where path_key = lower(?)', [namespace])
    const other = await app.make.user({ username: namespace })
    t.equal(await at(`${namespace}/young`), undefined, 'a new user has the name now')
    t.equal((await findProject(`${namespace}/young`, actorOf(other)))?.id, undefined)
  })

  t.test('a new project takes the old path', async t => {
    const { id } = await app.make.project({ owner, name: 'fresh', path: 'old' })
    t.equal(await at(`${namespace}-new/old`), id)
    await app.as(owner).delete(`/projects/${id}`)
    t.equal(await at(`${namespace}-new/old`), undefined, 'what it led to before has ended')
  })

  t.test('a project that gets its old path back loses nothing', async t => {
    await app.as(owner).put(`/projects/${project.id}`, { path: 'third' })
    await app.as(owner).put(`/projects/${project.id}`, { path: 'young' })
    t.equal(await at(`${namespace}-new/young`), project.id)
    t.equal(await at(`${namespace}-new/third`), project.id)
  })
})

t.test('archive and unarchive', async t => {
  const app = await testApp(t)
  const project = await app.make.project()
  const path = `/projects/${project.id}`
  for (const round of ['once', 'again']) {
    const res = await app.as(project.owner).post(`${path}/archive`)
    t.equal(res.statusCode, 201, round)
    t.match(res.json(), { archived: true })
  }
  const developer = await app.make.member(project, DEVELOPER)
  const file = { file_path: 'a', branch_name: 'master', content: 'x', commit_message: 'm' }
  t.equal((await app.as(developer).post(`${path}/repository/files`, file)).statusCode, 403)
  t.same((await app.as(project.owner).get('/projects')).json(), [], 'it is in no list')
  t.match((await app.as(project.owner).post(`${path}/unarchive`)).json(), { archived: false })
  t.equal((await app.as(developer).post(`${path}/repository/files`, file)).statusCode, 201)
  t.same(
    (await auditOf(project)).map(({ action }) => action).filter(action => /archive/.test(action)),
    ['project.archive', 'project.unarchive']
  )
})

t.test('stars', async t => {
  const app = await testApp(t)
  const project = await app.make.project({ visibility_level: 20 })
  const fan = await app.make.user()
  const path = `/projects/${project.id}/star`
  const star = await app.as(fan).post(path)
  t.equal(star.statusCode, 201)
  t.match(star.json(), { star_count: 1 })
  t.equal((await app.as(fan).post(path)).statusCode, 304)

  const [starred, ...others] = (await app.as(fan).get('/projects/starred')).json()
  t.match([starred?.id, others], [project.id, []])
  t.notOk('permissions' in starred)
  await app.as(project.owner).put(`/projects/${project.id}`, { visibility_level: 0 })
  t.same((await app.as(fan).get('/projects/starred')).json(), [], 'a project that the user cannot see any more')
  await app.as(project.owner).put(`/projects/${project.id}`, { visibility_level: 20 })

  const away = await app.as(fan).delete(path)
  t.equal(away.statusCode, 200)
  t.match(away.json(), { star_count: 0 })
  t.equal((await app.as(fan).delete(path)).statusCode, 304)

  await app.as(fan).post(path)
  await app.as(await app.make.admin()).delete(`/users/${fan.id}`)
  t.match((await app.as(project.owner).get(`/projects/${project.id}`)).json(), { star_count: 0 })
})

t.test('GET /projects/search/:query', async t => {
  const app = await testApp(t)
  const project = await app.make.project({ visibility_level: 20, name: 'Quaternion', description: 'turns' })
  await app.make.project({ name: 'quaternion-secret' })
  const found = async (as: ReturnType<TestApp['as']>, text: string) =>
    (await as.get(`/projects/search/${text}`)).json().map(({ id }: { id: number }) => id)
  t.same(await found(app.nobody, 'aternio'), [project.id])
  t.same(await found(app.as(await app.make.user()), 'QUATERNION'), [project.id])
  t.same(await found(app.nobody, 'no%20such'), [])
  await app
    .as(project.owner)
    .put(`/projects/${project.id}`, { name: 'Bivector', path: 'bivector', description: 'areas' })
  t.same(await found(app.nobody, 'aternio'), [], 'the old name')
  for (const text of ['bivect', 'AREAS', 'as']) t.same(await found(app.nobody, text), [project.id])
})

t.test('a search that finds many projects reads them along the order of the list', async t => {
  const app = await testApp(t)
  const first = await app.make.project({ visibility_level: 20, name: 'plenty-1' })
  const ids = [first.id]
  for (let number = 2; number <= 7; number++) {
    const { id } = await app.make.project({ visibility_level: 20, name: `plenty-${number}`, owner: first.owner })
    ids.unshift(id)
  }
  for (const scope of ['', '/visible', '/all']) {
    const asker = app.as(scope === '/all' ? await app.make.admin() : first.owner)
    const list = await asker.get(`/projects${scope}`, { search: 'plent', per_page: 3, page: 2 })
    t.same(
      list.json().map(({ id }: { id: number }) => id),
      ids.slice(3, 6)
    )
    t.equal(list.headers['x-total'], '7')
    const beyond = await asker.get(`/projects${scope}`, { search: 'plent', page: 2 })
    t.same([beyond.json(), beyond.headers['x-total']], [[], '7'])
  }
})

t.test('GET /projects/:id/users', async t => {
  const app = await testApp(t)
  const project = await app.make.project({ visibility_level: 20 })
  const member = await app.make.member(project, GUEST, await app.make.user({ name: 'Needle' }))
  const group = await app.make.group()
  const byShare = await app.make.groupMember(group, DEVELOPER)
  await app.make.share(project, group, DEVELOPER)
  await app.make.member(project, GUEST, undefined, '2020-01-01')
  const path = `/projects/${project.id}/users`
  const ids = (users: { id: number }[]) => users.map(({ id }) => id)
  const res = await app.nobody.get(path)
  t.same(ids(res.json()), [project.owner.id, member.id, byShare.id])
  t.equal(res.headers['x-total'], '3')
  t.same(Object.keys(res.json()[0]).sort(), ['avatar_url', 'id', 'name', 'state', 'username', 'web_url'])
  t.same(ids((await app.nobody.get(path, { search: 'eedl' })).json()), [member.id])
  t.same((await app.nobody.get(path, { search: 'example.org' })).json(), [], 'addresses are not searched')
})

t.test('POST /projects/user/:user_id', async t => {
  const app = await testApp(t)
  const admin = await app.make.admin()
  const user = await app.make.user({ projects_limit: 1 })
  const path = `/projects/user/${user.id}`
  const res = await app.as(admin).post(path, { name: 'gift', default_branch: 'trunk' })
  t.equal(res.statusCode, 201)
  t.match(res.json(), { creator_id: user.id, owner: { id: user.id }, path_with_namespace: `${user.username}/gift` })
  const over = await app.as(admin).post(path, { name: 'more' })
  t.equal(over.statusCode, 400)
  t.match(JSON.stringify(over.json()), /project limit is 1/)
  const missing = await app.as(admin).post('/projects/user/999999', { name: 'x' })
  t.equal(missing.statusCode, 404)
  t.same(missing.json(), { message: '404 User Not Found' })
})

t.test('DELETE /projects/:id', async t => {
  const app = await testApp(t)
  const project = await app.make.project({ visibility_level: 20 })
  await app.make.file(project, 'a', 'x')
  const path = `/projects/${project.id}`
  const res = await app.as(project.owner).delete(path)
  t.equal(res.statusCode, 200)
  t.equal(res.body, 'true')
  t.equal((await app.as(project.owner).get(path)).statusCode, 404)
  t.equal((await app.as(project.owner).delete(path)).statusCode, 404)
  t.same((await app.as(project.owner).get('/projects')).json(), [])
  t.ok((await app.runJobs()).includes('project.remove'))
  t.same(await rows('select 1 from project_removals where project_id = ?', [project.id]), [])
  t.same((await auditOf(project)).at(-1)?.action, 'project.delete')
})
