// Totals of long lists of projects: new projects are counted at once, other changes as soon as the audit has recorded them, and what
// changes no project makes nobody count again.
import { audit } from '../../../src/areas/ground/audit/audit.js'
import { execute, row } from '../../../src/db/connect/sql.js'
import { transact } from '../../../src/db/connect/transact.js'
import { countProjects } from '../../../src/db/lists/count-cache.js'
import { countTotal } from '../../../src/db/lists/paginate.js'
import { testApp } from '../../helpers/app.js'
import { someOrigin } from '../../helpers/factory.js'
import { numbersTo } from '../../helpers/numbers.js'
import { statementsOf } from '../../helpers/statements.js'
import t from '../../helpers/tap.js'

const MANY = 1500
const OPEN = { sql: 'p.visibility_level in (10, 20) and p.archived = ?', values: [false] }

async function manyProjects(namespaceId: number): Promise<void> {
  await execute(
    `insert into projects (namespace_id, name, path, storage, tag_list, runners_token_hash, runners_token_encrypted,
       visibility_level, last_activity_at, created_at, updated_at)
     select ?, concat('many-', seq), concat('many-', seq), 'default', '[]', unhex(sha2(concat('many', seq), 256)), '', 20, now(), now(), now()
     from ${numbersTo(MANY)}`,
    [namespaceId]
  )
}

const isWholeCount = (sql: string) => /count\(\*\)/.test(sql) && /p\.id <=|projects p where \([^)]*\)+$/.test(sql)

t.test('totals of projects', async t => {
  const app = await testApp(t)
  const admin = await app.make.admin()
  // Not the administrator, whose projects are limited.
  const owner = await app.make.user()
  const found = await row<{ id: number }>('select id from namespaces where owner_id = ?', [owner.id])
  await manyProjects(found?.id ?? 0)
  const reader = await app.make.user()
  const listed = async () => Number((await app.as(reader).get('/projects/visible')).headers['x-total'])
  let number = 0
  const made = async (visibility_level: number) => {
    const answer = await app.as(admin).post('/projects', { name: `made-${++number}`, visibility_level })
    t.equal(answer.statusCode, 201, answer.body)
    return answer.json().id as number
  }

  const first = await listed()
  t.ok(first >= MANY)
  t.equal(await listed(), first)

  await t.test('count a new project at once, and without the old ones', async t => {
    let total = 0
    const statements = await statementsOf(async () => {
      await made(20)
      await made(0)
      await app.as(admin).post('/personal_access_tokens', { name: 'one more' })
      total = await listed()
    })
    t.equal(total, first + 1)
    t.same(statements.filter(isWholeCount), [])
  })

  await t.test('follow a project that changes or disappears', async t => {
    const [changed, archived, removed] = [await made(20), await made(10), await made(20)]
    t.equal(await listed(), first + 4)
    await app.as(admin).put(`/projects/${changed}`, { visibility_level: 0 })
    t.equal(await listed(), first + 3)
    await app.as(admin).post(`/projects/${archived}/archive`)
    t.equal(await listed(), first + 2)
    await app.as(admin).delete(`/projects/${removed}`)
    t.equal(await listed(), first + 1)
  })

  await t.test('follow changes of old projects by another process, after its audit', async t => {
    const before = await countProjects(OPEN)
    const hide = 'update projects set visibility_level = 0 where visibility_level = 20 order by id limit 1'
    await execute(hide)
    t.equal(await countProjects(OPEN), before, 'no event yet')
    await transact(() => audit(someOrigin, { action: 'email.create', target: { type: 'email', id: 1, name: 'it' } }))
    t.equal(await countProjects(OPEN), before, 'an event that changes no project')
    await transact(() => audit(someOrigin, { action: 'group.update', target: { type: 'group', id: 1, name: 'it' } }))
    t.equal(await countProjects(OPEN), before - 1)
    // More events than one look reads.
    await execute(hide)
    for (let event = 0; event < 101; event++) {
      await execute(
        `insert into audit_events (created_at, actor_name, via, action, target_type, target_id, target_name, changes)
         values (now(), 'x', 'command', ?, 'thing', '1', 'it', '{}')`,
        [event === 0 ? 'group.update' : 'email.create']
      )
    }
    await transact(() => audit(someOrigin, { action: 'email.create', target: { type: 'email', id: 1, name: 'it' } }))
    t.equal(await countProjects(OPEN), before - 2)
  })

  await t.test('and totals of builds do not follow what changes no build', async t => {
    await execute(
      `insert into pipelines (id, project_id, ref, tag, sha, before_sha, status, source, created_at, updated_at)
       select seq, 1, 'master', false, repeat('1', 40), repeat('0', 40), 'success', 'push', now(), now() from ${numbersTo(MANY)}`
    )
    const count = () => countTotal('select count(*) as total from pipelines l where l.project_id = ?', [1])
    const event = (action: string) =>
      transact(() => audit(someOrigin, { action, target: { type: 'thing', id: 1, name: 'it' } }))
    t.same([await count(), await count()], [MANY, MANY])
    await execute('delete from pipelines where project_id = 1 order by id limit 1')
    await event('token.create')
    await event('project.create')
    t.equal(await count(), MANY)
    await event('pipeline.cancel')
    t.equal(await count(), MANY - 1)
  })

  await t.test('share one count', async t => {
    await transact(() => audit(someOrigin, { action: 'group.update', target: { type: 'group', id: 1, name: 'it' } }))
    const statements = await statementsOf(() => Promise.all([1, 2, 3].map(() => countProjects(OPEN))))
    t.equal(statements.filter(isWholeCount).length, 1)
  })

  await t.test('are counted as a whole again when few remain', async t => {
    await execute('update projects set visibility_level = 0')
    await transact(() => audit(someOrigin, { action: 'group.update', target: { type: 'group', id: 1, name: 'it' } }))
    t.equal(await countProjects(OPEN), 0)
    await execute('update projects set visibility_level = 20 order by id limit 1')
    t.equal(await countProjects(OPEN), 1)
  })
})
