// Every route against every kind of asker, on every kind of project.
import type { InjectOptions } from 'fastify'
import t from 'tap'
import { DEVELOPER, GUEST, MASTER, REPORTER } from '../../src/access/levels.js'
import { AccessToken } from '../../src/db/models/index.js'
import { execute } from '../../src/db/sql.js'
import { newToken, tokenHash } from '../../src/secrets.js'
import { endBuild, makePipeline, type TestBuild } from '../areas/builds/make-builds.js'
import { type TestApp, testApp } from '../helpers/app.js'
import type { TestProject, TestUser } from '../helpers/factory.js'
import { newKey } from '../helpers/ssh-keys.js'
import { ACTORS, type ActorName, INSTANCE, OF_PROJECT, PROJECTS, type ProjectName } from './expectations.js'
import { ownRecord } from './own-records.js'
import { routesOf } from './route-list.js'

interface Subject {
  readonly project: TestProject
  readonly build: TestBuild
  readonly blob: string
}

interface World {
  readonly app: TestApp
  readonly tokens: { readonly [Name in ActorName]: string | undefined }
  readonly admin: TestUser
  /** Whose tokens those are that are somebody's. */
  readonly users: { readonly [Name in ActorName]?: TestUser }
  readonly subjects: { readonly [Name in ProjectName]: Subject }
}

const VALUES: { readonly [Name in ProjectName]: object } = {
  private: { visibility_level: 0 },
  privateClosed: { visibility_level: 0, public_builds: false },
  internal: { visibility_level: 10 },
  public: { visibility_level: 20 },
  closedBuilds: { visibility_level: 20, public_builds: false },
  withoutBuilds: { visibility_level: 20 },
  archived: { visibility_level: 20 }
}
const SWITCH: { readonly [name: string]: string } = {
  withoutBuilds: 'update projects set builds_enabled = 0 where id = ?',
  archived: 'update projects set archived = 1 where id = ?'
}

let world: Promise<World> | undefined
const theWorld = () => {
  world ??= makeWorld()
  return world
}

async function makeWorld(): Promise<World> {
  const app = await testApp(t)
  const { make } = app
  const owner = await make.user()
  const members = {
    guest: [GUEST, await make.user()],
    reporter: [REPORTER, await make.user()],
    developer: [DEVELOPER, await make.user()],
    master: [MASTER, await make.user()],
    blocked: [MASTER, await make.user({ blocked: true })]
  } as const
  const admin = await make.admin()
  const readUser = newToken()
  await AccessToken.create({ userId: owner.id, kind: 'personal', scopes: 'read_user', tokenHash: tokenHash(readUser) })
  const subjects = {} as { [Name in ProjectName]: Subject }
  for (const name of PROJECTS) {
    const project = await make.project({ owner, ...VALUES[name] })
    for (const [level, user] of Object.values(members)) await make.member(project, level, user)
    subjects[name] = await fill(app, project)
    if (SWITCH[name]) await execute(SWITCH[name], [project.id])
  }
  const users = {
    stranger: await make.user(),
    external: await make.user({ external: true }),
    guest: members.guest[1],
    reporter: members.reporter[1],
    developer: members.developer[1],
    master: members.master[1],
    owner,
    admin,
    blocked: members.blocked[1],
    readUser: owner
  }
  const tokens = {
    ...Object.fromEntries(Object.entries(users).map(([name, { privateToken }]) => [name, privateToken])),
    readUser,
    wrong: 'no-such-token'
  } as World['tokens']
  return { app, tokens, admin, users, subjects }
}

/** A commit, a pipeline, and a build with all that can be read of one. */
async function fill(app: TestApp, project: TestProject): Promise<Subject> {
  const [build] = await makePipeline(project, 'job:\n  script: [make]\n  artifacts: {paths: [a]}\n')
  if (!build) throw new Error('no build')
  await endBuild(build, { trace: 'done', artifacts: Buffer.from('archive') })
  const [entry] = (await app.as(project.owner).get(`/projects/${project.id}/repository/tree`)).json()
  return { project, build, blob: entry.id }
}

/** The body and query with which a route would work for somebody who may use it. `actor` keeps writes apart. */
function inputOf(route: string, actor: string, { admin }: World): Partial<InjectOptions> {
  const file = { file_path: `by-${actor}`, branch_name: 'master', commit_message: route, content: route }
  const unique = `${actor.toLowerCase()}-${++count}`
  const inputs: { [route: string]: () => Partial<InjectOptions> } = {
    'POST /api/v3/users': () => ({
      payload: { email: `${unique}@example.org`, password: 'long enough', username: unique, name: 'Somebody' }
    }),
    'PUT /api/v3/users/:id': () => ({ payload: { bio: unique } }),
    'POST /api/v3/user/keys': () => ({ payload: { title: unique, key: newKey() } }),
    'POST /api/v3/users/:id/keys': () => ({ payload: { title: unique, key: newKey() } }),
    'POST /api/v3/personal_access_tokens': () => ({ payload: { name: unique } }),
    'POST /api/v3/users/:id/personal_access_tokens': () => ({ payload: { name: unique } }),
    'POST /api/v3/user/emails': () => ({ payload: { email: `${unique}@example.com` } }),
    'POST /api/v3/users/:id/emails': () => ({ payload: { email: `${unique}@example.com` } }),
    'POST /api/v3/session': () => ({ payload: { login: admin.username, password: admin.password } }),
    'POST /api/v3/projects': () => ({ payload: { name: unique } }),
    'POST /api/v3/hooks': () => ({ payload: { url: 'http://hooks.example.org/' } }),
    'POST /api/v3/broadcast_messages': () => ({ payload: { message: 'Down at noon' } }),
    'PUT /api/v3/application/settings': () => ({ payload: { default_projects_limit: 11 } }),
    'POST /users/sign_in': () => ({ payload: { login: admin.username, password: admin.password } }),
    'GET /repository/blobs/:sha': () => ({ query: { filepath: '.gitstead-ci.yml' } }),
    'GET /repository/files': () => ({ query: { file_path: '.gitstead-ci.yml', ref: 'master' } }),
    'POST /repository/files': () => ({ payload: file }),
    'PUT /repository/files': () => ({ payload: file }),
    'DELETE /repository/files': () => ({ query: { ...file, content: '' } }),
    'GET /builds/artifacts/:ref_name/download': () => ({ query: { job: 'job' } }),
    'GET /:namespace/:project/info/refs': () => ({ query: { service: 'git-upload-pack' } }),
    'POST /:namespace/:project/git-upload-pack': () => packet('0000'),
    'POST /:namespace/:project/git-receive-pack': () => packet('0000')
  }
  const make = inputs[route.replace('/api/v3/projects/:id/', '/')] ?? (() => ({}))
  return make()
}

let count = 0
const packet = (payload: string) => ({ payload, headers: { 'content-type': 'application/x-git-request' } })

async function ask(world: World, route: string, name: ActorName, subject: Subject | undefined): Promise<number> {
  const [method = '', pattern = ''] = route.split(' ')
  const input = inputOf(route.replace(/^HEAD/, 'GET'), name, world)
  const [namespace = '', project = ''] = subject?.project.path.split('/') ?? []
  const values: { [parameter: string]: string | number } = {
    ':namespace': namespace,
    ':project': `${project}.git`,
    ':id': subject?.project.id ?? (await userOf(method, pattern, world)),
    ...(pattern.includes('hooks') ? await aHook(world) : {}),
    ...(pattern.includes('bgjobs') ? { ':id': await aDeadJob(), ':queue': 'mail' } : {}),
    ...(pattern.includes('broadcast_messages') ? await aBroadcast(world) : {}),
    ':sha': (pattern.includes('raw_blobs') ? subject?.blob : subject?.build.sha) ?? '',
    ':build_id': subject?.build.id ?? 0,
    ':pipeline_id': subject?.build.pipelineId ?? 0,
    ':key': pattern.includes('licenses') ? 'mit' : 'Node',
    ':ref_name': 'master',
    ...(await ownRecord(pattern, pattern.includes('/users/') ? world.admin : (world.users[name] ?? world.admin)))
  }
  const url = pattern.replaceAll(/:\w+/g, part => String(values[part])).replace('*', '/no-such-page')
  const token = world.tokens[name]
  // Another name each time: who guesses often under one name is made to wait.
  const basic = Buffer.from(`git-${++count}:${token}`).toString('base64')
  const credentials = url.includes('.git/') ? { authorization: `Basic ${basic}` } : { 'private-token': token ?? '' }
  const res = await world.app.fastify.inject({
    ...input,
    method: method as 'GET',
    url,
    headers: { ...(input.headers as object), ...(token === undefined ? {} : credentials) }
  })
  return res.statusCode
}

/** The user whom `:id` names: one who may change, or go. */
async function userOf(method: string, pattern: string, { app, admin }: World): Promise<number> {
  const changes = ['PUT', 'DELETE'].includes(method) && /\/users\/:id(\/(un)?block)?$/.test(pattern)
  return changes ? (await app.make.user()).id : admin.id
}

/** A hook with a delivery that waits. */
async function aHook({ app, admin }: World) {
  const asker = app.as(admin)
  const [{ id }] = (await asker.post('/hooks', { url: 'http://hooks.example.org/' })).json()
  await asker.get(`/hooks/${id}`)
  const [delivery] = (await asker.get(`/hooks/${id}/deliveries`)).json()
  return { ':id': id, ':delivery_id': delivery.id }
}

async function aDeadJob(): Promise<number> {
  const now = new Date()
  const { insertId } = await execute(
    "insert into jobs (queue, name, payload, state, run_at, created_at) values ('mail', 'x', '{}', 'dead', ?, ?)",
    [now, now]
  )
  return insertId
}

async function aBroadcast({ app, admin }: World) {
  return { ':id': (await app.as(admin).post('/broadcast_messages', { message: 'Down at noon' })).json().id }
}

const withHead = (routes: string[]) =>
  routes.flatMap(route => (route.startsWith('GET ') ? [route, route.replace('GET', 'HEAD')] : [route]))

t.test('every route has an expectation, and every expectation a route', async t => {
  const { app } = await theWorld()
  const registered = routesOf(app.fastify).map(({ method, path }) => `${method} ${path}`)
  const expected = withHead([...Object.keys(INSTANCE), ...Object.keys(OF_PROJECT)])
  t.same([...registered].sort(), [...expected].sort())
})

t.test('routes about no project', async t => {
  const world = await theWorld()
  for (const route of withHead(Object.keys(INSTANCE))) {
    const found: Record<string, number> = {}
    for (const name of ACTORS) found[name] = await ask(world, route, name, undefined)
    t.same(found, expectation(INSTANCE[route.replace(/^HEAD/, 'GET')]), route)
  }
})

for (const kind of PROJECTS) {
  t.test(`routes about a project: ${kind}`, async t => {
    const world = await theWorld()
    // A HEAD is its GET without the body: to see that on one kind of project is enough.
    const routes = kind === 'private' ? withHead(Object.keys(OF_PROJECT)) : Object.keys(OF_PROJECT)
    for (const route of routes) {
      const found: Record<string, number> = {}
      for (const name of ACTORS) found[name] = await ask(world, route, name, world.subjects[kind])
      t.same(found, expectation(OF_PROJECT[route.replace(/^HEAD/, 'GET')]?.[kind]), route)
    }
  })
}

function expectation(statuses = ''): Record<string, number> {
  const list = statuses.split(/ +/).map(Number)
  return Object.fromEntries(ACTORS.map((name, at) => [name, list[at] ?? 0]))
}
