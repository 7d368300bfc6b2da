// Machines that share a database: their rows, their leases, and their clocks.
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import {
  hasLostLease,
  isDrained,
  joinMachines,
  knownUids,
  leaveMachines,
  machineUid,
  markLost,
  mayClaim,
  readMachines,
  requireClock
} from '../../src/cluster/machines.js'
import { askPeer, PASSED_ON, passedOnFor } from '../../src/cluster/peers.js'
import { endedProcess, machine, processName } from '../../src/cluster/this-machine.js'
import { config, loadConfig } from '../../src/config.js'
import { closeDatabase } from '../../src/db/connect/connection.js'
import { execute, row, rows } from '../../src/db/connect/sql.js'
import { Misconfigured } from '../../src/errors.js'
import { MACHINE_MEMORY } from '../../src/lib/machine-memory.js'
import { promoteJobs } from '../../src/queue/claim.js'
import { enqueue } from '../../src/queue/enqueue.js'
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

t.test('the row shows what the machine is, and which of its processes run', async t => {
  const read = () =>
    rows(
      `select address, processors, memory, load_average >= 0 as has_load, abs(clock_offset) < 2000 as agrees,
         server_until > now(3) as server, worker_until > now(3) as worker, drained_at from machines`
    )
  await joinAgain()
  const own = { address: null, processors: availableParallelism(), memory: MACHINE_MEMORY, has_load: 1, agrees: 1 }
  t.match(await read(), [{ ...own, server: null, worker: null, drained_at: null }], 'a command is neither')
  loadConfig({ port: 0, cluster: { address: 'http://10.0.0.11:8080' } })
  t.teardown(() => loadConfig({ port: 0 }))
  await joinMachines('server')
  t.match(await read(), [{ ...own, address: 'http://10.0.0.11:8080', server: 1, worker: null }])
  await joinMachines('worker')
  t.match(await read(), [{ server: 1, worker: 1 }])
})

t.test('a server that ends in order is not waited for, unless another one of this machine took over', async t => {
  const runs = () => row('select server_until > now(3) as server, lease_until > now(3) as machine from machines')
  await joinAgain()
  await joinMachines('server')
  t.match(await runs(), { server: 1, machine: 1 })
  await leaveMachines()
  t.match(await runs(), { server: 0, machine: 1 })
  await joinAgain()
  await joinMachines('server')
  await execute('update machines set server_until = server_until + interval 5 second')
  await leaveMachines()
  t.match(await runs(), { server: 1 })
})

t.test('a process knows the id of its machine, and whether it is drained, since its last renewal', async t => {
  await closeDatabase()
  t.throws(machineUid, /has not joined/)
  t.same([isDrained(), hasLostLease(), mayClaim()], [false, false, true])
  await joinMachines()
  t.equal(machineUid(), (await stored())[0]?.uid)
  t.ok(knownUids().includes(machineUid()))
  await execute('update machines set drained_at = now(3)')
  t.equal(isDrained(), false)
  await joinMachines('worker')
  t.same([isDrained(), mayClaim()], [true, false])
  await boots('earlier', -config().queue.lease - 1)
  await joinAgain()
  t.equal(isDrained(), true, 'also after a boot')
})

t.test('a machine whose row was removed gets another id', async t => {
  await joinAgain()
  const before = machineUid()
  await execute('delete from machines')
  await joinMachines('server')
  t.not(machineUid(), before)
  t.same(await stored(), [{ uid: machineUid(), boot: machine() }])
})

t.test('a process that could not renew for a lease begins nothing until it has', async t => {
  const { lease } = config().queue
  await joinAgain()
  const real = performance.now
  t.teardown(() => {
    performance.now = real
    return joinAgain()
  })
  performance.now = () => real.call(performance) + lease * 1000 - 2000
  t.same([hasLostLease(), mayClaim()], [false, true])
  performance.now = () => real.call(performance) + lease * 1000
  t.same([hasLostLease(), mayClaim()], [true, false])
  await joinMachines()
  t.same([hasLostLease(), mayClaim()], [false, true])
})

t.test('two homes of one kernel are two machines', async t => {
  const here = machine()
  loadConfig({ port: 0, home: t.testdir() })
  t.teardown(() => loadConfig({ port: 0 }))
  t.not(machine(), here)
  t.equal(machine().split('/').slice(0, 2).join('/'), here.split('/').slice(0, 2).join('/'))
  loadConfig({ port: 0, home: `${config().home}/missing` })
  t.equal(machine(), here.split('/').slice(0, 2).join('/'), 'a home that does not exist yet has no number')
  loadConfig({ port: 0 })
  t.equal(machine(), here)
})

t.test('an owner on this machine lives with its process, and one elsewhere with its machine', async t => {
  await joinAgain()
  await execute(
    `insert into machines (uid, name, boot, version, created_at, started_at, lease_until)
     values (left(sha2('y', 256), 32), 'y', 'elsewhere', '1', now(3), now(3), now(3) + interval 9 second)`
  )
  const mayRun = async (owner: string) => (await readMachines()).mayRun(owner)
  t.equal(await mayRun(processName()), true)
  t.equal(await mayRun(`${processName()}#1234`), true)
  t.equal(await mayRun(endedProcess()), false)
  t.equal(await mayRun(`${machine()}#${process.pid}#1`), false, 'a later process with the same pid')
  t.equal(await mayRun('elsewhere#1#1'), true)
  await execute("update machines set lease_until = now(3) - interval 1 second where boot = 'elsewhere'")
  t.equal(await mayRun('elsewhere#1#1'), false)
  t.equal(await mayRun('nowhere#1#1'), false)
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

t.test(
  'the row that a boot within a lease has left is removed later, after its locks have been looked for',
  async t => {
    const { lease } = config().queue
    await joinAgain()
    await boots('earlier', -1)
    await joinAgain()
    await execute("update machines set lease_until = now(3) - interval ? second where boot = 'earlier'", [lease + 1])
    await joinMachines('server')
    t.equal((await stored()).length, 2)
    await markLost()
    await joinMachines('worker')
    t.same(await stored(), [{ uid: machineUid(), boot: machine() }])
  }
)

t.test('the file of ids keeps the newest hundred', async t => {
  const { length } = knownUids()
  for (let made = length; made < 102; made += 1) {
    await execute('delete from machines')
    await joinMachines()
    await closeDatabase()
  }
  await joinMachines()
  t.equal(uids().length, 100)
  t.equal(uids().at(-1), machineUid())
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

  t.test(
    'a process starts, and warns; it refuses to start with a clock that is off by more than ten minutes',
    async t => {
      for (const seconds of [0, 301, -301]) {
        wrong(seconds)
        await requireClock()
      }
      wrong(660)
      const ahead = await requireClock().catch(error => error)
      t.ok(ahead instanceof Misconfigured)
      t.match(
        ahead.message,
        /^the clock of this machine is (659|660)\.\d s ahead of that of the database, and may differ by 10 minutes: /
      )
      wrong(-660)
      await t.rejects(requireClock(), { message: / (659|660)\.\d s behind that of the database/ })
    }
  )

  t.test('jobs are due in the time of the database, and other machines accept its requests', async t => {
    t.teardown(joinAgain)
    const request = { method: 'GET', url: '/', headers: {} as Record<string, string> }
    const signAt = async (seconds: number) => {
      wrong(seconds)
      await joinAgain()
      const asked = askPeer('http://127.0.0.1:9', { ...request, client: '192.0.2.7' })
      asked.on('error', () => undefined).destroy()
      return { ...request, headers: { [PASSED_ON]: String(asked.getHeader(PASSED_ON)) } } as unknown as IncomingMessage
    }
    for (const seconds of [301, -301]) {
      const sent = await signAt(seconds)
      const id = await enqueue('mail.send', { deliveryId: 1 }, { runAt: new Date(Date.now() + 20_000) })
      const job = await row<{ due: number }>(
        'select timestampdiff(second, now(3), run_at) as due from jobs where id = ?',
        [id]
      )
      t.ok(job && job.due >= 15 && job.due <= 20, `due in ${job?.due} s`)
      const [ready] = await Promise.all([promoteJobs(), execute('delete from jobs')])
      t.equal(ready, 0)
      wrong(-2 * seconds)
      await joinAgain()
      t.equal(passedOnFor(sent), '192.0.2.7')
    }
    const sent = await signAt(0)
    wrong(661)
    t.equal(passedOnFor(sent), undefined, 'a claim that is older than ten minutes')
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
