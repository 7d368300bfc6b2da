// What a run leaves here when its projects fail: nothing that would be in the way of others.
import t from 'tap'
import { addMigration, findMigration, placeOf } from '../../../../src/areas/migrate/runs/migrations.js'
import { runMigration } from '../../../../src/areas/migrate/runs/run.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin } from '../../../helpers/factory.js'
import { cloneable, serveGithub } from '../github/conversation.js'

process.env.GITSTEAD_HOOKS_ALLOW = '127.0.0.1'
const app = await testApp(t)
const admin = await app.make.admin()
const LABELS = 'repos/crew/tool/labels'
/** A page with this status is not kept: the next run asks for it again. */
const REFUSED = 401
const { answers } = await cloneable(t)
const labels = answers[LABELS] ?? []
const { url } = await serveGithub(t, answers)
const prepare = (name: string) =>
  addMigration(
    name,
    'sesame',
    { kind: 'github', url: url.origin, map: {}, people: {}, rate: 1000, keys: false },
    someOrigin
  )
const run = async (name: string, signal = new AbortController().signal) =>
  runMigration(await findMigration(name), { projects: ['crew/tool'], overwrite: false }, { origin: someOrigin, signal })
const groups = async () =>
  (await rows<{ path: string }>("select path from namespaces where kind = 'group'")).map(({ path }) => path)
const placeholders = () => rows('select id from migrated_people where is_placeholder = true')
/** Ends a run from outside when it reads the labels: its group is here by then. */
async function killedRun(name: string) {
  const ending = new AbortController()
  answers[LABELS] = () => {
    ending.abort(new Error('killed'))
    return REFUSED
  }
  await t.rejects(run(name, ending.signal))
  t.same(await groups(), ['crew'])
}

await prepare('one')
await prepare('two')

t.test('a run that fails leaves no group and no placeholder, so another migration has the place', async t => {
  answers[LABELS] = REFUSED
  t.match((await run('one')).projects, [{ result: 'failed', error: /labels\S* answered with status 401/ }])
  t.same(await groups(), [])
  t.same(await placeholders(), [])
  t.same(await rows("select id from users where username in ('ada', 'ben')"), [])
  t.match((await run('two')).projects, [{ result: 'failed', error: /labels\S* answered with status 401/ }])
})

t.test('the group of a killed run belongs to its migration, and goes when the next run fails', async t => {
  await killedRun('one')
  answers[LABELS] = REFUSED
  t.match((await run('two')).projects, [{ result: 'failed', error: /^the namespace crew exists here/ }])
  t.same(await groups(), ['crew'], 'another migration does not remove it')
  t.match((await run('one')).projects, [{ result: 'failed', error: /labels/ }])
  t.same(await groups(), [])
})

t.test('a group that somebody has changed or used stays', async t => {
  const group = async () => (await app.as(admin).get('/groups/crew')).json()
  const idOf = async (username: string) => (await app.as(admin).get('/users', { username })).json()[0].id
  /** A user who is known as a person of the source. */
  const newPerson = async () => {
    const { id } = await app.make.user()
    const values = [placeOf({ url: url.origin }), `zoe-${id}`, id, new Date()]
    await execute('insert into migrated_people (source, username, user_id, created_at) values (?, ?, ?, ?)', values)
    return id
  }
  const uses: readonly (readonly [string, () => Promise<unknown>])[] = [
    [
      'a member',
      async () => app.as(admin).post('/groups/crew/members', { user_id: (await app.make.user()).id, access_level: 30 })
    ],
    ['a member who left', async () => app.as(admin).delete(`/groups/crew/members/${await idOf('ben')}`)],
    [
      'a person of the source',
      async () => app.as(admin).post('/groups/crew/members', { user_id: await newPerson(), access_level: 30 })
    ],
    ['a description', async () => app.as(admin).put('/groups/crew', { description: 'Ours' })],
    ['a project', async () => app.make.project({ owner: admin, group: { id: (await group()).id, path: 'crew' } })],
    [
      'an import',
      () =>
        execute(
          "insert into project_removals (project_id, storage, path_with_namespace, created_at) values (1000000, 'default', 'crew/new', ?)",
          [new Date()]
        )
    ]
  ]
  for (const [what, use] of uses) {
    await killedRun('one')
    await use()
    answers[LABELS] = REFUSED
    t.match((await run('one')).projects, [{ result: 'failed' }])
    t.same(await groups(), ['crew'], what)
    await app.as(admin).delete('/groups/crew')
    await app.runJobs()
    await execute('delete from project_removals')
  }
})

t.test('a run that succeeds keeps the group and the people', async t => {
  answers[LABELS] = labels
  t.match((await run('one')).projects, [{ result: 'created', to: 'crew/tool' }])
  t.same(await groups(), ['crew'])
  t.ok((await placeholders()).length >= 2)
})
