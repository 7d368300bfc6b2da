// Story: the clocks of database nodes differ by minutes. After a failover, the leases of all machines seemed to have ended, and others
// used the storages of machines that lived; or they lasted for minutes after the machines had died. While proxies did not agree on the
// node, a worker that started counted as gone. A worker that started after such a jump took over what others had not renewed yet.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { takeLock } from '../../src/areas/upkeep/maintenance/maintenance-lock.js'
import { joinMachines, machineUid, readMachines } from '../../src/cluster/machines.js'
import { makeMarker } from '../../src/cluster/marker.js'
import { holds, joinStorages, ownStorages } from '../../src/cluster/storages.js'
import { config, loadConfig } from '../../src/config.js'
import { execute, row } from '../../src/db/connect/sql.js'
import { listGone, reapProcesses } from '../../src/queue/processes.js'
import { clockOf } from '../chaos/clocks.js'
import { testDatabase } from '../helpers/database.js'
import { until } from '../helpers/until.js'
import { startGalera } from './galera.js'
import { inTurns } from './turns.js'

const folder = mkdtempSync(join(tmpdir(), 'gitstead-clocks-'))
const galera = await startGalera(folder, undefined, [], clockOf)
const [first, ahead, behind] = galera.nodes
const root = await first.connect()
await root.query("create or replace user root@'127.0.0.1' identified by 'root'")
await root.query("grant all on *.* to root@'127.0.0.1'")
root.destroy()
const proxy = await inTurns([first])
process.env.GITSTEAD_TEST_SERVER = `mysql://root:root@127.0.0.1:${proxy.port}/`
delete process.env.GITSTEAD_TEST_SCHEMA
t.teardown(async () => {
  await proxy.stop()
  await galera.stop()
  rmSync(folder, { recursive: true })
})
await testDatabase()
loadConfig({ port: 0, cluster: { address: 'http://127.0.0.1:1' }, queue: { lease: 4 } })

const OTHER = 'b'.repeat(32)
const THIRD = 'c'.repeat(32)
const LOCK = 'x#1#1#1'
const other = join(config().home, 'repositories', 'other')
mkdirSync(other, { recursive: true })

/** Another machine: its storage, its worker and a task that it runs. */
await execute(
  `insert into machines (uid, name, boot, version, address, created_at, started_at, lease_seconds, lease_until)
   values (?, 'other', ?, '1', 'http://127.0.0.1:2', now(3), now(3), 4, now(3) + interval 4 second)`,
  [OTHER, OTHER]
)
await execute(
  `insert into storages (name, marker, owner, lease_seconds, lease_until, created_at)
   values ('other', ?, ?, 8, now(3) + interval 8 second, now(3))`,
  [await makeMarker(other), OTHER]
)
const { insertId: worker } = await execute(
  `insert into job_processes (hostname, machine, pid, pid_started, tag, queues, labels, concurrency, started_at, lease_seconds, lease_until)
   values ('other', ?, 1, 1, 'gitstead', '[]', '[]', 1, now(3), 4, now(3) + interval 4 second)`,
  [OTHER]
)
await execute('insert into maintenance_locks (task, holder, lease_until) values (?, ?, now(3) + interval 30 second)', [
  'old_ticks',
  LOCK
])
/** Renews the leases of the other machine in the time of one node of the database. */
async function renew(run: (sql: string, values: (string | number)[]) => Promise<unknown> = execute): Promise<void> {
  const end = 'lease_until = now(3) + interval lease_seconds second'
  await run(`update machines set ${end} where uid = ?`, [OTHER])
  await run(`update storages set ${end} where owner = ?`, [OTHER])
  await run(`update job_processes set ${end} where id = ?`, [worker])
}
const renewLock = () =>
  execute('update maintenance_locks set lease_until = now(3) + interval 30 second where holder = ?', [LOCK])

/** Whether this machine may begin the task. */
async function begins(): Promise<boolean> {
  const lock = await takeLock('old_ticks').catch(() => undefined)
  await lock?.release()
  return lock !== undefined
}

const owner = async () =>
  (await row<{ owner: string }>("select owner from storages where name = 'other'").catch(() => undefined))?.owner
const isGone = async () => (await listGone().catch((): number[] => [])).includes(worker)
const isOver = async () => (await readMachines().catch(() => undefined))?.isOver(OTHER) === true

await joinMachines('server')
await joinStorages()
await ownStorages()

for (const node of [ahead, behind])
  t.test(`nothing of a machine that uses ${node.name} is taken over while this one uses another node`, async t => {
    const there = await node.connect()
    t.teardown(() => there.destroy())
    await there.query(`use ${(await row<{ name: string }>('select database() as name'))?.name}`)
    const wrong: string[] = []
    const end = Date.now() + 10_000
    while (Date.now() < end) {
      await renew((sql, values) => there.query(sql, values))
      // The first look finds leases that it never saw when they had not ended.
      if ((await reapProcesses()).includes(worker)) wrong.push('the worker was reaped')
      if ((await owner()) !== OTHER) wrong.push('the storage was taken')
      if (await isGone()) wrong.push('the worker counts as gone')
      if (await isOver()) wrong.push('the machine counts as over')
      if (!holds('default')) wrong.push('this machine has lost its own storage')
      await sleep(200)
    }
    t.same([...new Set(wrong)], [])
    await renew()
  })

t.test('nothing of a machine that lives is taken over when the clock of the database jumps ahead', async t => {
  t.ok(holds('default'))
  proxy.leadTo(ahead)
  const wrong: string[] = []
  const end = Date.now() + 12_000
  for (let turn = 0; Date.now() < end; turn++) {
    // The other machine comes back a little later than this one.
    if (turn > 5) await renew().catch(() => undefined)
    if (turn === 5 && (await begins())) wrong.push('the task has begun twice')
    if (turn === 40) await renewLock()
    if (![OTHER, undefined].includes(await owner())) wrong.push('the storage was taken')
    if (await isGone()) wrong.push('the worker counts as gone')
    if (await isOver()) wrong.push('the machine counts as over')
    if (!holds('default')) wrong.push('this machine has lost its own storage')
    await sleep(200)
  }
  t.same([...new Set(wrong)], [])
})

t.test('a machine that dies when the clock of the database jumps back is over as soon as any other', async t => {
  await renew()
  proxy.leadTo(behind)
  await until('the machine is over', isOver)
  await until('the worker is gone', isGone)
  await until('this machine has taken the storage', async () => (await owner()) === machineUid())
  t.ok(holds('default'))
  await until('the task may begin', begins)
})

t.test(
  'a worker that starts does not know whether the clock has jumped, and takes nothing over for the length of a lease',
  async t => {
    await execute(
      `insert into machines (uid, name, boot, version, address, created_at, started_at, lease_seconds, lease_until)
     values (?, 'third', ?, '1', 'http://127.0.0.1:3', now(3), now(3), 60, now(3) + interval 60 second)`,
      [THIRD, THIRD]
    )
    const { insertId } = await execute(
      `insert into job_processes (hostname, machine, pid, pid_started, tag, queues, labels, concurrency, started_at, lease_seconds, lease_until)
     values ('third', ?, 1, 1, 'gitstead', '[]', '[]', 1, now(3), 4, now(3) + interval 300 second)`,
      [THIRD]
    )
    const counts = async () => (await listGone()).includes(insertId)
    await until('its machine has renewed its lease, and the process has not', counts)
    await joinMachines('worker')
    t.notOk(await counts())
    t.notOk((await reapProcesses()).includes(insertId))
    await until('the process is gone if it renews nothing', counts)
  }
)
