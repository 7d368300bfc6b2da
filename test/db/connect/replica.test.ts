// Lists that may be a few seconds old come from a replica: two real servers, of which the second follows the first.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import t from 'tap'
import { hasWrittenLately } from '../../../src/areas/people/credentials/uses/own-writes.js'
import { replicaCheck } from '../../../src/cli/doctor/database.js'
import { loadConfig } from '../../../src/config.js'
import { replicaState } from '../../../src/db/connect/replica.js'
import { watchReplica } from '../../../src/db/connect/replica-looks.js'
import { execute } from '../../../src/db/connect/sql.js'
import { limitStatements } from '../../../src/db/connect/statement-limit.js'
import { makeDataFolder } from '../../../src/db/embedded/folder.js'
import { secrets } from '../../../src/secrets.js'
import { testApp } from '../../helpers/app.js'
import { type Daemon, daemonOf, eventually, ownNetwork } from '../../helpers/daemons.js'
import { testDatabase } from '../../helpers/database.js'
import { factory, type TestUser } from '../../helpers/factory.js'
import { until } from '../../helpers/until.js'

const folder = mkdtempSync(join(tmpdir(), 'gitstead-replica-'))
const network = ownNetwork()
const socketOf = (number: number) => join(folder, `${number}.sock`)

mkdirSync(join(folder, 'home/run'), { recursive: true })
loadConfig({ home: join(folder, 'home') })
makeDataFolder()
const password = secrets().database_password
const servers = [1, 2].map(number => {
  const own = join(folder, String(number))
  cpSync(join(folder, 'home/mysql'), join(own, 'data'), { recursive: true })
  mkdirSync(join(own, 'tmp'))
  return daemonOf(`server ${number}`, `${network}.1${number}`, own, () => [
    ...['setpriv', '--pdeathsig', 'KILL', 'mariadbd', '--no-defaults', `--datadir=${own}/data`, `--tmpdir=${own}/tmp`],
    ...(process.getuid?.() === 0 ? ['--user=root'] : []),
    ...[`--socket=${socketOf(number)}`, `--bind-address=${network}.1${number}`, '--port=3306', `--server-id=${number}`],
    ...[
      '--skip-name-resolve',
      '--log-bin',
      '--binlog-format=row',
      '--innodb-flush-log-at-trx-commit=0',
      '--innodb-buffer-pool-size=64M'
    ]
  ])
}) as [Daemon, Daemon]
const [writing, replica] = servers
const on = async (number: number, ...statements: string[]) => {
  const connection = await createConnection({ socketPath: socketOf(number), user: 'root', password })
  for (const statement of statements) await connection.query(statement)
  await connection.end()
}
for (const server of servers) await server.start()
for (const number of [1, 2]) await eventually('a server', () => on(number, 'select 1').then(() => true))
await on(1, "create user root@'127.0.0.1' identified by 'root'", "grant all on *.* to root@'127.0.0.1'")
await on(
  2,
  `change master to master_host = '${writing.address}', master_user = 'root', master_password = 'root', master_use_gtid = slave_pos`,
  'start slave'
)

process.env.GITSTEAD_TEST_SERVER = `mysql://root:root@${writing.address}:3306/`
delete process.env.GITSTEAD_TEST_SCHEMA
// The database is removed before this.
t.teardown(async () => {
  for (const server of servers) await server.kill()
  rmSync(folder, { recursive: true })
})
const { databaseUrl } = await testDatabase()
const readUrl = new URL(databaseUrl)
readUrl.hostname = replica.address
readUrl.username = 'reader'
readUrl.password = 'reader'
const schema = readUrl.pathname.slice(1)
await on(2, "create user reader@'127.0.0.1' identified by 'reader'")
for (const table of ['database_marks', 'environments']) {
  const grant = () => on(2, `grant select on ${schema}.${table} to reader@'127.0.0.1'`).then(() => true)
  await eventually('the replica has the tables', grant)
}
process.env.GITSTEAD_DATABASE_READ_URL = readUrl.href
process.env.GITSTEAD_METRICS_ALLOW = '127.0.0.1'
const lag = (seconds: number) => {
  process.env.GITSTEAD_DATABASE_READ_LAG = String(seconds)
  loadConfig({ port: 0 })
}
lag(60)
limitStatements(1)
const app = await testApp(t)
const stopWatching = watchReplica()
t.teardown(stopWatching)

const project = await factory.project()
const [reader, second, third] = [
  await factory.member(project),
  await factory.member(project),
  await factory.member(project)
]
const path = `/projects/${project.id}/environments`
const names = async (user: TestUser): Promise<string[]> => {
  const answer = await app.as(user).get(path)
  return answer.statusCode === 200 ? answer.json().map(({ name }: { name: string }) => name) : [`${answer.statusCode}`]
}
const isUp = (up: boolean) => until(`the replica is ${up ? 'used' : 'left'}`, () => replicaState().up === up)
const caughtUp = () => until('the replica has all', async () => (await names(reader)).length === made)
let made = 0
const make = async () => {
  made++
  const answer = await app.as(project.owner).post(path, { name: `m${made}` })
  t.equal(answer.statusCode, 201)
}

t.test('lists of a project may be old, but not for those who have just written', async t => {
  await isUp(true)
  await make()
  await caughtUp()
  await on(2, 'stop slave sql_thread')
  await make()
  t.same((await names(project.owner)).sort(), ['m1', 'm2'], 'the writer of the environment')
  // On a busy machine, a look at the replica may be too old now and then: then the read goes to the writing server.
  await until('another member reads from the replica', async () => (await names(reader)).join() === 'm1')
  t.same(
    (await app.as(reader).get(`/projects/${project.id}/labels`)).json(),
    [],
    'other lists come from the writing server'
  )
  t.equal((await app.as(reader).get(path)).headers['x-total'], '2', 'and so do totals')
  // As another server notes it.
  await execute(
    `insert into user_uses (user_id, last_used_at, written_at) values (?, now(3), now(3))
     on duplicate key update written_at = now(3)`,
    [second.id]
  )
  t.equal((await names(second)).length, 2, 'a user who has written at another server')
  await factory.file({ ...project, owner: third }, 'a.txt', 'text')
  t.equal(await hasWrittenLately(third.id), true)
  t.equal((await names(third)).length, 2, 'a user who has made a commit')
  await on(2, 'start slave sql_thread')
  await caughtUp()
})

t.test('rights are never old', async t => {
  await on(2, 'stop slave sql_thread')
  const leaving = await factory.member(project)
  t.equal((await names(leaving)).length, made, 'the replica does not know the new member')
  await app.as(project.owner).delete(`/projects/${project.id}/members/${leaving.id}`)
  t.same(await names(leaving), ['404'])
  await on(2, 'start slave sql_thread')
})

t.test('a late replica is not used', async t => {
  await caughtUp()
  t.match(await replicaCheck.examine({} as never), /at most/)
  lag(1)
  await on(2, 'stop slave sql_thread')
  await make()
  await isUp(false)
  t.equal((await names(reader)).length, made)
  await t.rejects(Promise.resolve(replicaCheck.examine({} as never)), { message: /behind/ })
  t.match((await app.nobody.inject({ url: '/-/metrics' })).body, /^gitstead_replica_up 0$/m)
  await on(2, 'start slave sql_thread')
  await isUp(true)
  const { body } = await app.nobody.inject({ url: '/-/metrics' })
  t.match(body, /^gitstead_replica_up 1$/m)
  t.match(body, /^gitstead_replica_lateness_seconds [\d.]+$/m)
  lag(60)
})

t.test('a replica that refuses reads fails no request', async t => {
  await isUp(true)
  await on(2, `revoke select on ${schema}.environments from reader@'127.0.0.1'`)
  const { failed } = replicaState()
  await make()
  await until('a read fails at the replica', async () => {
    t.equal((await names(reader)).length, made)
    return replicaState().failed > failed
  })
  t.match(replicaState(), { up: false, failed: failed + 1 })
  t.equal((await names(reader)).length, made)
  t.equal(replicaState().failed, failed + 1, 'the next read does not try it')
  const { body } = await app.nobody.inject({ url: '/-/metrics' })
  t.match(body, new RegExp(`^gitstead_replica_failed_reads ${failed + 1}$`, 'm'))
  await on(2, `grant select on ${schema}.environments to reader@'127.0.0.1'`)
})

t.test('a replica that hangs or dies fails no request', async t => {
  await isUp(true)
  replica.signal('SIGSTOP')
  await make()
  t.equal((await names(reader)).length, made, 'it hangs')
  await isUp(false)
  replica.signal('SIGCONT')
  await isUp(true)
  await caughtUp()
  await replica.kill()
  await make()
  t.equal((await names(reader)).length, made, 'it died')
  await isUp(false)
  await t.rejects(Promise.resolve(replicaCheck.examine({} as never)), { message: /does not answer/ })
  await replica.start()
  await isUp(true)
})
