import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { config, publicUrl } from '../../../../src/config.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { GUEST, MASTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

const SIMPLE = ['http_url_to_repo', 'id', 'name', 'name_with_namespace', 'path', 'path_with_namespace', 'web_url']
/** The attributes of the requirement's record, and lfs_enabled, which the reference adds. */
const PROJECT = [
  ...SIMPLE,
  'archived',
  'avatar_url',
  'builds_enabled',
  'container_registry_enabled',
  'created_at',
  'creator_id',
  'default_branch',
  'description',
  'forks_count',
  'issues_enabled',
  'last_activity_at',
  'lfs_enabled',
  'merge_requests_enabled',
  'namespace',
  'only_allow_merge_if_all_discussions_are_resolved',
  'only_allow_merge_if_build_succeeds',
  'open_issues_count',
  'owner',
  'permissions',
  'public',
  'public_builds',
  'request_access_enabled',
  'shared_runners_enabled',
  'shared_with_groups',
  'snippets_enabled',
  'ssh_url_to_repo',
  'star_count',
  'tag_list',
  'visibility_level',
  'wiki_enabled'
]
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const SWITCHES = {
  issues_enabled: true,
  merge_requests_enabled: true,
  builds_enabled: true,
  wiki_enabled: true,
  snippets_enabled: false,
  container_registry_enabled: true,
  lfs_enabled: true,
  shared_runners_enabled: true,
  public_builds: true,
  request_access_enabled: false,
  only_allow_merge_if_build_succeeds: false,
  only_allow_merge_if_all_discussions_are_resolved: false
}

// This test comes first, while no other projects exist.
t.test('lists of projects', async t => {
  const app = await testApp(t)
  const admin = await app.make.admin()
  const owner = await app.make.user()
  const member = await app.make.user()
  const external = await app.make.user({ external: true })
  const of = async (name: string, visibility_level: 0 | 10 | 20, description?: string) => {
    const project = await app.make.project({ owner, name, visibility_level, description })
    return project.id
  }
  const hidden = await of('alpha', 0)
  const internal = await of('beta', 10)
  const open = await of('gamma', 20, 'a needle, 100% of it')
  await app.make.member({ id: hidden }, GUEST, member)
  const old = await of('omega', 20)
  await execute('update projects set archived = 1 where id = ?', [old])
  const ids = async (asker: ReturnType<typeof app.as>, path: string, query: Record<string, string | boolean> = {}) =>
    (await asker.get(path, query)).json().map(({ id }: { id: number }) => id)

  t.test('/projects: those in which the caller is a member', async t => {
    t.same(await ids(app.as(owner), '/projects'), [open, internal, hidden])
    t.same(await ids(app.as(member), '/projects'), [hidden])
    t.same(await ids(app.as(external), '/projects'), [])
    t.same(await ids(app.as(admin), '/projects'), [])
  })

  t.test('/projects/owned: those of which the caller is the owner', async t => {
    t.same(await ids(app.as(owner), '/projects/owned'), [open, internal, hidden])
    t.same(await ids(app.as(member), '/projects/owned'), [])
    const groupOwner = await app.make.user()
    const group = await app.make.group({ owner: groupOwner })
    const master = await app.make.groupMember(group, MASTER)
    const { id } = await app.make.project({ owner: groupOwner, group })
    t.same(await ids(app.as(groupOwner), '/projects/owned'), [id], 'those of a group that the caller owns')
    t.same(await ids(app.as(master), '/projects/owned'), [])
    t.same(await ids(app.as(groupOwner), '/projects/owned', { statistics: true }), [id])
    await execute('delete from projects where id = ?', [id])
  })

  t.test('/projects/visible: those that the caller can see', async t => {
    t.same(await ids(app.as(member), '/projects/visible'), [open, internal, hidden])
    t.same(await ids(app.as(await app.make.user()), '/projects/visible'), [open, internal])
    t.same(await ids(app.as(external), '/projects/visible'), [open])
    t.same(await ids(app.nobody, '/projects/visible'), [open])
    t.same(await ids(app.as(admin), '/projects/visible'), [open, internal, hidden])
  })

  t.test('a user without memberships reads the same list again and again', async t => {
    const client = app.as(await app.make.user())
    // Each connection prepares a statement at its first execution; the later ones must give the same.
    for (let time = 0; time < 24; time++) {
      t.same(await ids(client, '/projects/visible'), [open, internal])
      t.equal((await client.get('/projects', { page: 1 + (time % 2) })).statusCode, 200)
    }
  })

  t.test('/projects/visible counts what it shows, also on a page beyond the end', async t => {
    const totals = async (client: typeof app.nobody, query: object = {}) =>
      Promise.all(
        [1, 2, 9].map(async page =>
          Number((await client.get('/projects/visible', { per_page: 1, page, ...query })).headers['x-total'])
        )
      )
    t.same(await totals(app.as(member)), [3, 3, 3], 'a hidden project of the caller counts once')
    t.same(await totals(app.as(owner)), [3, 3, 3], 'an open project of the caller counts once')
    t.same(await totals(app.as(await app.make.user())), [2, 2, 2])
    t.same(await totals(app.as(external)), [1, 1, 1])
    t.same(await totals(app.nobody), [1, 1, 1])
    t.same(await totals(app.as(owner), { visibility: 'private' }), [1, 1, 1])
    t.same(await totals(app.as(owner), { visibility: 'public' }), [1, 1, 1])
    t.same(await totals(app.as(owner), { search: 'alph' }), [1, 1, 1])
  })

  t.test('/projects/all: all, for administrators', async t => {
    t.same(await ids(app.as(admin), '/projects/all'), [open, internal, hidden])
    t.equal((await app.as(owner).get('/projects/all')).statusCode, 403)
  })

  t.test('filters and orders', async t => {
    const list = (query: Record<string, string | boolean>) => ids(app.as(owner), '/projects', query)
    t.same(await list({ archived: true }), [old])
    t.same(await list({ visibility: 'public' }), [open])
    t.same(await list({ visibility: 'internal' }), [internal])
    t.same(await list({ visibility: 'private' }), [hidden])
    t.same(await list({ search: 'ALPH' }), [hidden])
    t.same(await list({ search: 'needle' }), [open])
    t.same(await list({ search: '100%' }), [open])
    t.same(await list({ search: '%' }), [open])
    t.same(await list({ search: "'" }), [])
    for (const order_by of ['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at']) {
      t.same(await list({ order_by, sort: 'asc' }), [hidden, internal, open], order_by)
      t.same(await list({ order_by, sort: 'desc' }), [open, internal, hidden], order_by)
    }
  })

  t.test('refuses unknown orders and filters', async t => {
    for (const query of ['order_by=password', 'sort=up', 'visibility=secret']) {
      const res = await app.as(owner).get(`/projects?${query}`)
      t.equal(res.statusCode, 400, query)
      t.match(res.json(), { error: `${query.split('=')[0]} does not have a valid value` })
    }
    for (const query of ['search[a]=b', 'archived=perhaps', 'simple[]=1&simple[]=0']) {
      t.equal((await app.as(owner).get(`/projects?${query}`)).statusCode, 400, query)
    }
  })

  t.test('simple records have a few attributes, the others all', async t => {
    const [simple] = (await app.as(owner).get('/projects', { simple: true })).json()
    t.same(Object.keys(simple).sort(), SIMPLE)
    const [full] = (await app.as(owner).get('/projects')).json()
    t.same(Object.keys(full).sort(), [...PROJECT, 'runners_token'].sort())
    const [anonymous] = (await app.nobody.get('/projects/visible')).json()
    t.same(Object.keys(anonymous).sort(), SIMPLE)
  })

  t.test('take the same number of statements for any length', async t => {
    const lists = { '/projects': 2, '/projects/owned': 2, '/projects/visible': 3, '/projects/all': 3 }
    for (const [path, statements] of Object.entries(lists)) {
      const ask = () => app.as(admin).get(path, { per_page: 100 })
      // The first list after a first membership is read twice.
      await ask()
      t.equal(await countStatements(ask), statements, path)
      await app.make.project({ owner: admin })
      await app.make.project({ owner: admin })
      t.equal(await countStatements(ask), statements + 1, `${path}: with one for the rows that are not kept`)
      t.equal(await countStatements(ask), statements, path)
    }
  })

  t.test('a page beyond the end is empty and still has the total', async t => {
    const beyond = await app.as(admin).get('/projects', { page: 99 })
    t.same(beyond.json(), [])
    const first = await app.as(admin).get('/projects')
    t.ok(Number(first.headers['x-total']) > 0)
    t.equal(beyond.headers['x-total'], first.headers['x-total'])
  })
})

t.test('GET /projects/:id', async t => {
  const app = await testApp(t)
  const project = await app.make.project({ visibility_level: 0, description: 'About' })
  const path = `/projects/${project.id}`

  t.test('gives the whole record to its owner', async t => {
    const res = await app.as(project.owner).get(path)
    t.equal(res.statusCode, 200)
    const found = res.json()
    t.same(Object.keys(found).sort(), [...PROJECT, 'runners_token'].sort())
    const [namespace, name] = project.path.split('/')
    t.match(found, {
      ...SWITCHES,
      id: project.id,
      description: 'About',
      default_branch: null,
      public: false,
      visibility_level: 0,
      http_url_to_repo: `${publicUrl()}/${project.path}.git`,
      web_url: `${publicUrl()}/${project.path}`,
      ssh_url_to_repo: /^ssh:\/\/git@[^:/]+:\d+\/.+\.git$/,
      tag_list: [],
      owner: { id: project.owner.id, name: project.owner.name, created_at: DATE_TIME },
      path: name,
      path_with_namespace: project.path,
      name_with_namespace: `${namespace} / ${found.name}`,
      open_issues_count: 0,
      forks_count: 0,
      star_count: 0,
      creator_id: project.owner.id,
      created_at: DATE_TIME,
      last_activity_at: DATE_TIME,
      permissions: { project_access: { access_level: 40, notification_level: 3 }, group_access: null },
      archived: false,
      avatar_url: null,
      runners_token: /^.{20}$/,
      shared_with_groups: []
    })
    t.match(found.namespace, {
      id: Number,
      name: namespace,
      path: namespace,
      kind: 'user',
      owner_id: project.owner.id,
      created_at: DATE_TIME,
      updated_at: DATE_TIME,
      description: '',
      avatar: { url: null },
      share_with_group_lock: false,
      visibility_level: 0
    })
  })

  t.test('shows the token of runners to masters only', async t => {
    const guest = await app.make.member(project, GUEST)
    const master = await app.make.member(project, MASTER)
    t.same(Object.keys((await app.as(guest).get(path)).json()).sort(), [...PROJECT].sort())
    t.ok((await app.as(master).get(path)).json().runners_token)
    t.match((await app.as(guest).get(path)).json(), { permissions: { project_access: { access_level: 10 } } })
  })

  t.test('has no count of issues when issues are off', async t => {
    const off = await app.make.project({ issues_enabled: false })
    t.notOk('open_issues_count' in (await app.as(off.owner).get(`/projects/${off.id}`)).json())
  })

  t.test('shows the short record to clients without credentials', async t => {
    const open = await app.make.project({ visibility_level: 20 })
    const res = await app.nobody.get(`/projects/${open.id}`)
    t.equal(res.statusCode, 200)
    t.same(Object.keys(res.json()).sort(), SIMPLE)
  })

  t.test('accepts the encoded path', async t => {
    for (const id of [project.path.replace('/', '%2F'), project.path.replace('/', '%2f')]) {
      t.equal((await app.as(project.owner).get(`/projects/${id}`)).json().id, project.id, id)
      t.equal((await app.as(project.owner).get(`/projects/${id}.json`)).json().id, project.id, `${id}.json`)
    }
  })

  t.test('gives the same answer for a missing project and for one that the caller may not know', async t => {
    const stranger = app.as(await app.make.user())
    const unknown = ['999999', '0', '-1', '4294967297', '99999999999999999999', 'x', 'a%2Fb', 'a%2Fb%2Fc', '%2F', '%00']
    for (const id of [String(project.id), project.path.replace('/', '%2F'), ...unknown]) {
      for (const asker of [stranger, app.nobody]) {
        const res = await asker.get(`/projects/${id}`)
        t.equal(res.statusCode, 404, id)
        t.same(res.json(), { message: '404 Project Not Found' }, id)
      }
    }
  })
})

t.test('POST /projects', async t => {
  const app = await testApp(t)
  const user = await app.make.user()
  const create = (body: object) => app.as(user).post('/projects', body)

  t.test('needs only a name', async t => {
    const res = await create({ name: 'My First Project' })
    t.equal(res.statusCode, 201)
    t.same(Object.keys(res.json()).sort(), [...PROJECT, 'runners_token'].sort())
    t.match(res.json(), { ...SWITCHES, name: 'My First Project', path: 'my-first-project', visibility_level: 0 })
  })

  t.test('keeps every setting under its own name', async t => {
    for (const [name, usual] of Object.entries(SWITCHES)) {
      const res = await create({ name: `with ${name}`, [name]: !usual })
      t.match(res.json(), { ...SWITCHES, [name]: !usual }, name)
    }
  })

  t.test('public means one of two visibilities; visibility_level overrides it', async t => {
    t.match((await create({ name: 'p1', public: true })).json(), { visibility_level: 20, public: true })
    t.match((await create({ name: 'p2', public: false })).json(), { visibility_level: 0, public: false })
    t.match((await create({ name: 'p3', public: true, visibility_level: 10 })).json(), { visibility_level: 10 })
    t.match((await create({ name: 'p4', visibility_level: '20' })).json(), { visibility_level: 20 })
  })

  t.test('ignores attributes that a client cannot set', async t => {
    const foreign = { id: 1, creator_id: 1, archived: true, star_count: 7, storage: 'x', runners_token: 'x' }
    const res = await create({ name: 'mass', ...foreign, namespace: { id: 1 }, created_at: '2000-01-01' })
    t.equal(res.statusCode, 201)
    t.match(res.json(), { creator_id: user.id, archived: false, star_count: 0 })
    t.not(res.json().runners_token, 'x')
  })

  t.test('creates only in the own namespace; administrators in any namespace', async t => {
    const other = await app.make.project()
    const { namespace } = (await app.as(other.owner).get(`/projects/${other.id}`)).json()
    for (const id of [namespace.id, 0, -1, 999999, 99999999999]) {
      const res = await create({ name: 'elsewhere', namespace_id: id })
      t.equal(res.statusCode, 400, String(id))
      t.same(res.json(), { message: { namespace: ['is not valid'] } })
    }
    const own = (await create({ name: 'own 1' })).json().namespace.id
    t.equal((await create({ name: 'own 2', namespace_id: own })).statusCode, 201)
    const admin = app.as(await app.make.admin())
    const made = await admin.post('/projects', { name: 'made for another', namespace_id: namespace.id })
    t.equal(made.statusCode, 201)
    t.match(made.json(), { owner: { id: other.owner.id }, namespace: { id: namespace.id } })
    t.match((await app.as(other.owner).get(`/projects/${made.json().id}`)).json().permissions, {
      project_access: { access_level: 40 }
    })
  })

  const invalid: [string, object, object][] = [
    ['a path that is taken', { name: 'other', path: 'my-first-project' }, { path: ['has already been taken'] }],
    ['a name that is taken', { name: 'My First Project', path: 'new' }, { name: ['has already been taken'] }],
    [
      'a name that is taken in other case',
      { name: 'MY first PROJECT', path: 'new' },
      { name: ['has already been taken'] }
    ],
    [
      'a name and a path that are taken',
      { name: 'my first project' },
      { name: ['has already been taken'], path: ['has already been taken'] }
    ],
    ['a long name', { name: 'x'.repeat(256) }, { name: ['is too long (maximum is 255 characters)'] }],
    ['a long path', { name: 'n', path: 'x'.repeat(256) }, { path: ['is too long (maximum is 255 characters)'] }],
    [
      'a long description',
      { name: 'n', description: 'x'.repeat(2001) },
      { description: ['is too long (maximum is 2000 characters)'] }
    ],
    ['a name with a space at its end', { name: 'spaced ' }, { name: ['must not end with a space'] }],
    ['a name of blanks', { name: '   ' }, { name: ["can't be blank"] }],
    ['a name that begins with a dash', { name: '-x' }, { name: [/can contain only/] }],
    ['a name with markup', { name: 'a<b>' }, { name: [/can contain only/] }],
    ['a path with a slash', { name: 'n', path: 'a/b' }, { path: [/can contain only/] }],
    ['a path of dots', { name: 'n', path: '..' }, { path: ['is reserved'] }],
    ['a path with NUL', { name: 'n', path: 'a\0' }, { path: [/can contain only/] }],
    ['a path that begins with a dash', { name: 'n', path: '-n' }, { path: [/cannot start with/] }],
    ['a path that ends in .git', { name: 'n', path: 'n.git' }, { path: [/cannot end in/] }],
    ['a path that ends in .atom', { name: 'n', path: 'n.atom' }, { path: [/cannot end in/] }],
    ['a long name', { name: 'x'.repeat(256) }, { name: ['is too long (maximum is 255 characters)'] }],
    [
      'a long description',
      { name: 'n', description: 'x'.repeat(2001) },
      { description: ['is too long (maximum is 2000 characters)'] }
    ]
  ]
  for (const [what, body, message] of invalid) {
    t.test(`refuses ${what}`, async t => {
      const res = await create(body)
      t.equal(res.statusCode, 400)
      t.match(res.json(), { message })
    })
  }

  const wrong: [string, object, string][] = [
    ['no name', {}, 'name is missing'],
    ['an empty name', { name: '' }, 'name is empty'],
    ['a list as name', { name: ['n'] }, 'name is invalid'],
    ['an object as name', { name: { a: 'n' } }, 'name is invalid'],
    ['an unknown visibility', { name: 'n', visibility_level: 5 }, 'visibility_level does not have a valid value'],
    ['a word as number', { name: 'n', namespace_id: 'mine' }, 'namespace_id is invalid'],
    ['a word as switch', { name: 'n', wiki_enabled: 'perhaps' }, 'wiki_enabled is invalid']
  ]
  for (const [what, body, error] of wrong) {
    t.test(`refuses ${what}`, async t => {
      const res = await create(body)
      t.equal(res.statusCode, 400)
      t.match(res.json(), { error, message: /^400 \(Bad request\)/ })
    })
  }

  t.test('keeps nothing when the repository cannot be made', async t => {
    const owner = await app.make.user()
    const storage = join(config().home, 'repositories', 'default')
    mkdirSync(storage, { recursive: true })
    renameSync(storage, `${storage}.away`)
    // A file where a folder belongs: nothing can be made below it, as on a full disk.
    writeFileSync(storage, '')
    const failed = await app.as(owner).post('/projects', { name: 'half' })
    rmSync(storage)
    renameSync(`${storage}.away`, storage)
    t.equal(failed.statusCode, 503, failed.body)
    t.same((await app.as(owner).get('/projects')).json(), [])
    t.equal((await app.as(owner).post('/projects', { name: 'half' })).statusCode, 201, 'the name is still free')
  })

  t.test('refuses one project more than allowed, also when requests come at once', async t => {
    const few = await app.make.user({ projects_limit: 2 })
    const all = await Promise.all([1, 2, 3, 4].map(n => app.as(few).post('/projects', { name: `p${n}` })))
    t.same(all.map(({ statusCode }) => statusCode).sort(), [201, 201, 403, 403])
    const error = ['Your project limit is 2 projects! Please contact your administrator to increase it']
    t.match((await app.as(few).post('/projects', { name: 'more' })).json(), { error })
    const none = await app.make.user({ projects_limit: 0 })
    t.match((await app.as(none).post('/projects', { name: 'one' })).json(), {
      error: [/^Personal project creation is not allowed/]
    })
  })
})

t.test('names that are not the same are not the same project', async t => {
  const app = await testApp(t)
  const owner = await app.make.user()
  const asker = app.as(owner)
  for (const [name, path] of [
    ['Café', 'cafe-1'],
    ['Cafe', 'cafe-2'],
    ['🦊', 'fox'],
    ['🚀', 'rocket']
  ] as const) {
    t.equal((await asker.post('/projects', { name, path })).statusCode, 201, name)
  }
  const at = async (path: string) => (await asker.get(`/projects/${encodeURIComponent(path)}`)).statusCode
  t.equal(await at(`${owner.username}/fox`), 200)
  t.equal(await at(`${owner.username.toUpperCase()}/FOX`), 200, 'its case does not matter')
  for (const path of ['föx', 'fox ', ' fox', 'fo', 'fox🦊', 'fox\0'])
    t.equal(await at(`${owner.username}/${path}`), 404, path)
  t.equal(await at(`${owner.username} /fox`), 404)
  t.equal(await at(`${owner.username.replace('u', 'ü')}/fox`), 404)
  const names = async (search: string) =>
    (await asker.get('/projects', { search, order_by: 'name', sort: 'asc' }))
      .json()
      .map(({ name }: { name: string }) => name)
  t.same(await names('CAFÉ'), ['Café', 'Cafe'], 'a search ignores case and accents')
  t.same(await names('🦊'), ['🦊'])
})

t.test('lists by name and by path ignore case', async t => {
  const app = await testApp(t)
  const owner = await app.make.user()
  for (const [name, path] of [
    ['beta', 'B-2'],
    ['Alpha', 'a-3'],
    ['Émile', 'C-1'],
    ['delta', 'd-4']
  ] as const) {
    await app.make.project({ owner, name, path })
  }
  const list = async (order_by: 'name' | 'path') =>
    (await app.as(owner).get('/projects', { order_by, sort: 'asc' }))
      .json()
      .map((project: { name: string; path: string }) => project[order_by])
  t.same(await list('name'), ['Alpha', 'beta', 'delta', 'Émile'])
  t.same(await list('path'), ['a-3', 'B-2', 'C-1', 'd-4'])
})

t.test('one statement reads the actor and the project, with the levels of the actor', async t => {
  const app = await testApp(t)
  const { make, as } = app
  const [member, stranger, administrator] = [await make.user(), await make.user(), await make.user({ admin: true })]
  const project = await make.project({ visibility_level: 0 })
  await make.member(project, MASTER, member)
  const path = `/projects/${project.id}`
  t.equal(await countStatements(() => as(member).get(path)), 1)
  const permissions = async (answer: ReturnType<typeof app.nobody.get>) =>
    (await answer).json().permissions?.project_access?.access_level
  t.equal(await permissions(as(member).get(path)), MASTER)
  t.equal((await as(stranger).get(path)).statusCode, 404)
  t.equal((await as(administrator).get('/projects/4000000000')).statusCode, 404)
  t.equal(await permissions(as(administrator).get(path)), undefined, 'an administrator has no membership')
  t.equal(await permissions(as(administrator).get(path, { sudo: member.id })), MASTER, 'by sudo those of the other')
  t.equal((await as(administrator).get(path, { sudo: stranger.id })).statusCode, 404)
  t.equal((await as({ ...member, privateToken: 'x'.repeat(20) }).get(path)).statusCode, 401)
  await execute("update users set state = 'blocked' where id = ?", [member.id])
  t.equal((await as(member).get(path)).statusCode, 401)
})
