// Machines that share a database: their rows, their leases, and their clocks.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mock } from 'node:test'
import { config } from '../../src/config.js'
import { closeDatabase } from '../../src/db/connect/connection.js'
import { execute, rows } from '../../src/db/connect/sql.js'
import { Misconfigured } from '../../src/errors.js'
import { joinMachines, machine, markLost, readMachines, requireClock } from '../../src/queue/machines.js'
import { listGone, reapProcesses } from '../../src/queue/processes.js'
import { testDatabase } from '../helpers/database.js'
import t from '../helpers/tap.js'

const { home } = await testDatabase()

const uids = () => readFileSync(join(home, 'run/machines'), 'latin1').trim().split('\n')
const stored = () => rows<{ uid: string; boot: string }>('select uid, boot from machines order by id')
/** As after a restart of all processes of the machine. */
async function joinAgain() {
  await closeDatabase()
  await joinMachines()
}
const boots = (boot: string, seconds: number) =>
  execute('update machines set boot = ?, lease_until = now(3) + interval ? second where boot = ?', [
    boot,
    seconds,
    machine()
  ])

t.beforeEach(() => execute('delete from machines'))

t.test('a machine gets one row, whichever of its processes comes first, and keeps it', async t => {
  await joinAgain()
  await joinMachines()
  await joinAgain()
  t.match(await stored(), [{ uid: uids().at(-1), boot: machine() }])
})

t.test('after a boot, a machine takes its row back when the lease has ended', async t => {
  await joinAgain()
  const [before] = await stored()
  await boots('earlier', -config().queue.lease - 1)
  await joinAgain()
  t.same(await stored(), [{ uid: before?.uid, boot: machine() }])
})

t.test('a machine that may come back keeps its row', async t => {
  await joinAgain()
  await boots('other', -1)
  await joinAgain()
  t.match(await stored(), [{ boot: 'other' }, { boot: machine() }])
})

t.test('after a time without the database, nobody is over until the others had time to come back', async t => {
  const { lease } = config().queue
  await joinAgain()
  await execute(
    `insert into machines (uid, name, boot, version, created_at, started_at, lease_until)
     values (left(sha2('x', 256), 32), 'x', 'away', '1', now(3), now(3), now(3) - interval ? second)`,
    [lease + 1]
  )
  t.equal((await readMachines()).isOver('away'), true)
  const real = performance.now
  const later = (seconds: number) => {
    performance.now = () => real.call(performance) + seconds * 1000
  }
  t.teardown(() => {
    performance.now = real
    return joinAgain()
  })
  later(2 * lease)
  await joinMachines()
  t.equal((await readMachines()).isOver('away'), false)
  t.equal(await markLost(), false)
  later(3 * lease)
  t.equal((await readMachines()).isOver('away'), true)
  t.equal(await markLost(), true)
})

t.test('the row of a machine that lives is never taken, though both have the same folder', async t => {
  await joinAgain()
  const [theirs] = await stored()
  await boots('other', 30)
  await joinAgain()
  const [first, second] = await stored()
  t.match(first, { uid: theirs?.uid, boot: 'other' })
  t.match(second, { boot: machine() })
  t.not(second?.uid, theirs?.uid)
  t.same(uids().slice(-2), [theirs?.uid, second?.uid])
})

t.test('a machine lives until its lease ends, and is over one lease later', async t => {
  const { lease } = config().queue
  await joinAgain()
  const states = async (seconds: number) => {
    await execute('update machines set lease_until = now(3) + interval ? second', [seconds])
    const machines = await readMachines()
    return [machines.lives(machine()), machines.isOver(machine())]
  }
  t.same(await states(5), [true, false])
  t.same(await states(-1), [false, false])
  t.equal(await markLost(), false)
  t.same(await states(-lease - 1), [false, true])
  t.same([await markLost(), await markLost()], [true, false], 'one caller looks for what it left behind')
  const machines = await readMachines()
  t.same([machines.lives('unknown'), machines.isOver('unknown')], [false, true])
})

t.test('with a clock that is wrong by a minute', async t => {
  const wrong = (seconds: number) => {
    mock.timers.reset()
    mock.timers.enable({ apis: ['Date'], now: Date.now() + seconds * 1000 })
  }
  t.afterEach(() => mock.timers.reset())

  t.test('a process refuses to start', async t => {
    await requireClock()
    wrong(60)
    const ahead = await requireClock().catch(error => error)
    t.ok(ahead instanceof Misconfigured)
    t.match(
      ahead.message,
      /^the clock of this machine is (60.0|59.9) s ahead of that of the database, and may differ by 7.5 s: /
    )
    wrong(-60)
    await t.rejects(requireClock(), { message: / (60.0|59.9) s behind that of the database/ })
  })

  t.test('a running worker takes no other worker for lost', async t => {
    await execute('delete from job_processes')
    await execute(
      `insert into job_processes (hostname, machine, pid, pid_started, tag, queues, labels, concurrency, started_at, lease_until)
       values ('h', 'other', 1, 1, 'x', '[]', '[]', 1, now(3), now(3) + interval 10 second)`
    )
    wrong(60)
    t.same([await listGone(), await reapProcesses()], [[], []])
    await execute('update job_processes set lease_until = now(3) - interval 1 second')
    wrong(-60)
    t.equal((await reapProcesses()).length, 1)
  })
})
