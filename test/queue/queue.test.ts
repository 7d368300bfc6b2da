import { execute, row, rows } from '../../src/db/connect/sql.js'
import { afterCommit, transact } from '../../src/db/connect/transact.js'
import {
  discardJobs,
  findJob,
  listJobs,
  pausedQueues,
  pauseQueue,
  resumeQueue,
  retryJobs
} from '../../src/queue/administer.js'
import { claimJobs, failJob, finishJobs, lookForWork, promoteJobs, releaseJobs } from '../../src/queue/claim.js'
import { enqueue, enqueueAll } from '../../src/queue/enqueue.js'
import { Tally } from '../../src/queue/history.js'
import { backOff, jobs, QUEUES } from '../../src/queue/jobs.js'
import { jobStats, processMetrics, queueMetrics } from '../../src/queue/metrics.js'
import { reapProcesses, registerProcess, renewProcess, unregisterProcess } from '../../src/queue/processes.js'
import { enqueueTick } from '../../src/queue/ticks.js'
import { testDatabase } from '../helpers/database.js'
import { eventJob } from '../helpers/published.js'
import { countStatements } from '../helpers/statements.js'
import t from '../helpers/tap.js'

await testDatabase()

const event = eventJob
const register = (concurrency = 10) => registerProcess({ queues: ['default', 'hooks'], concurrency })
const states = async () =>
  (await rows<{ state: string }>('select state from jobs order by id')).map(({ state }) => state)

t.beforeEach(async () => {
  for (const table of ['jobs', 'job_processes', 'paused_queues', 'schedule_ticks'])
    await execute(`delete from ${table}`)
  await execute('update job_totals set value = 0')
})

t.test('a job belongs to its transaction', async t => {
  t.test('the job exists after the commit, and workers are woken then', async t => {
    const events: string[] = []
    await transact(async () => {
      await enqueue('event.published', event('a'))
      afterCommit(() => events.push('after'))
      events.push('inside')
    })
    t.same(events, ['inside', 'after'])
    t.same(await states(), ['ready'])
  })

  t.test('a rollback removes the job, and no worker is woken', async t => {
    const events: string[] = []
    const failing = transact(async () => {
      await enqueue('event.published', event('a'))
      afterCommit(() => events.push('after'))
      throw new Error('no')
    })
    await t.rejects(failing, { message: 'no' })
    t.same([events, await states()], [[], []])
  })

  t.test('nobody claims the job before the commit', async t => {
    const process = await register()
    await transact(async () => {
      await enqueue('event.published', event('a'))
      const other = new Promise<number>(resolve => setImmediate(() => resolve(0)))
      await other
      const seen = await outside(() => claimJobs('default', process, 10))
      t.same(seen, [])
    })
    t.equal((await claimJobs('default', process, 10)).length, 1)
  })

  t.test('many jobs are added with few statements, in order', async t => {
    const first = await enqueueAll(
      'event.published',
      Array.from({ length: 1201 }, (_, at) => event(`k${at}`))
    )
    const found = await rows<{ id: number; payload: string }>('select id, payload from jobs order by id')
    t.equal(found.length, 1201)
    t.equal(found[0]?.id, first)
    t.same(JSON.parse(found.at(-1)?.payload ?? ''), event('k1200'))
  })
})

/** Runs `fn` as if no transaction were open around it. */
async function outside<T>(fn: () => Promise<T>): Promise<T> {
  const { scopes } = await import('../../src/db/connect/scope.js')
  return scopes.exit(fn)
}

t.test('claiming', async t => {
  t.test('a claim and the end of its jobs take three statements', async t => {
    const process = await register()
    await enqueueAll('event.published', [event('a'), event('b')])
    const statements = await countStatements(async () => {
      const claimed = await claimJobs('default', process, 10)
      await finishJobs(
        claimed.map(({ id }) => id),
        process
      )
    })
    t.equal(statements, 3)
    t.same(await states(), [])
  })

  t.test('takes jobs by priority, then by age, and only from its queue', async t => {
    const process = await register()
    await enqueue('event.published', event('late'))
    await enqueue('event.published', event('urgent'), { priority: 50 })
    await enqueue('hook.deliver', { deliveryId: 1 })
    const claimed = await claimJobs('default', process, 10)
    t.same(
      claimed.map(({ name, payload, attempt, suspect }) => ({ name, payload, attempt, suspect })),
      [
        { name: 'event.published', payload: event('urgent'), attempt: 1, suspect: false },
        { name: 'event.published', payload: event('late'), attempt: 1, suspect: false }
      ]
    )
    t.same(await claimJobs('default', process, 10), [])
  })

  t.test('one look finds the queues with ready jobs, and when the next delayed job is due', async t => {
    t.same(await lookForWork(['default', 'hooks']), { due: null, ready: [] })
    await enqueue('event.published', event('a'), { runAt: new Date(Date.now() + 60_000) })
    await enqueue('hook.deliver', { deliveryId: 1 })
    const { due, ready } = await lookForWork(['default', 'hooks', 'mail'])
    t.same(ready, ['hooks'])
    t.ok(due && due > 0 && due <= 60_000, `the delayed job is due in ${due} ms`)
    await execute("update jobs set run_at = now(3) - interval 1 second where state = 'delayed'")
    const later = await lookForWork(['default', 'mail'])
    t.ok(later.due && later.due <= 0)
    t.same(later.ready, [])
  })

  t.test('gives each job to one of many parallel claims', async t => {
    await enqueueAll(
      'event.published',
      Array.from({ length: 300 }, (_, at) => event(`k${at}`))
    )
    const got: number[] = []
    // A process has one claim of a queue at a time, so each of the four is a process.
    const take = async () => {
      const process = await register()
      for (;;) {
        const claimed = await claimJobs('default', process, 7)
        if (claimed.length === 0) return
        got.push(...claimed.map(({ id }) => id))
      }
    }
    await Promise.all([take(), take(), take(), take()])
    t.equal(got.length, 300)
    t.equal(new Set(got).size, 300)
  })

  t.test('a job that another process takes at the same moment stays with it', async t => {
    const [slow, fast] = [await register(), await register()]
    await enqueueAll(
      'event.published',
      Array.from({ length: 20 }, (_, at) => event(`k${at}`))
    )
    const all = (await Promise.all([claimJobs('default', slow, 12), claimJobs('default', fast, 12)])).flat()
    t.equal(new Set(all.map(({ id }) => id)).size, all.length)
    const held = await rows<{ id: number }>("select id from jobs where state = 'running' and attempts = 1")
    t.same(
      new Set(held.map(({ id }) => id)),
      new Set(all.map(({ id }) => id)),
      'no process holds a job without knowing'
    )
  })

  t.test('takes nothing from a paused queue until it is resumed', async t => {
    const process = await register()
    await enqueue('event.published', event('a'))
    await pauseQueue('default')
    await pauseQueue('default')
    t.same(await claimJobs('default', process, 10), [])
    t.same(await pausedQueues(), ['default'])
    await resumeQueue('default')
    t.equal((await claimJobs('default', process, 10)).length, 1)
    await t.rejects(pauseQueue('nothing'), { name: 'Invalid' })
  })

  t.test('skips jobs that are not due yet', async t => {
    const process = await register()
    const soon = new Date(Date.now() + 60_000)
    await enqueue('event.published', event('a'), { runAt: soon })
    t.same(await states(), ['delayed'])
    t.equal(await promoteJobs(), 0)
    t.same(await claimJobs('default', process, 10), [])
    t.equal(await promoteJobs(new Date(soon.getTime() + 1)), 1)
    t.equal((await claimJobs('default', process, 10)).length, 1)
  })
})

t.test('ending', async t => {
  t.test('a finished job is removed once', async t => {
    const process = await register()
    await enqueue('event.published', event('a'))
    const [job] = await claimJobs('default', process, 1)
    t.equal(await finishJobs([job?.id ?? 0], process), 1)
    t.equal(await finishJobs([job?.id ?? 0], process), 0)
    t.match(await jobStats(), { enqueued: 0 })
  })

  t.test('a failed job waits longer each time, and is dead after its last try', async t => {
    const process = await register()
    await enqueue('maintenance.run', { task: 'x' })
    const tries = jobs['maintenance.run'].attempts
    const waits: number[] = []
    for (let attempt = 1; attempt <= tries; attempt++) {
      const [job] = await claimJobs('maintenance', process, 1)
      t.equal(job?.attempt, attempt)
      if (!job) return
      const before = Date.now()
      await failJob(job, process, new Error('it did not work'))
      const found = await findJob(job.id)
      waits.push(found.run_at.getTime() - before)
      t.equal(found.state, attempt === tries ? 'dead' : 'delayed')
      t.match(found.error, 'it did not work')
      await promoteJobs(new Date(Date.now() + 7_200_000))
    }
    t.ok((waits[0] ?? 0) < (waits[1] ?? 0))
  })

  t.test('the back-off doubles up to an hour, plus at most a quarter of jitter', async t => {
    t.same(
      [1, 2, 3, 12, 40].map(attempt => backOff(attempt, () => 0)),
      [2, 4, 8, 3600, 3600]
    )
    t.equal(
      backOff(3, () => 1),
      10
    )
  })

  t.test('dead jobs can be retried with all their tries, or discarded', async t => {
    const process = await register()
    const id = await enqueue('event.published', event('a'))
    await execute("update jobs set state = 'dead', attempts = 12, crashes = 3")
    t.equal(await retryJobs([id]), 1)
    t.match(await claimJobs('default', process, 1), [{ id, attempt: 1, suspect: false }])
    await t.rejects(discardJobs([id]), { name: 'NotFound' }, 'a running job stays')
    await releaseJobs([id], process)
    t.equal(await discardJobs([id]), 1)
    await t.rejects(retryJobs([id]), { name: 'NotFound' })
    t.same(await listJobs(), [])
  })

  t.test('a job that was claimed but not started goes back without a try', async t => {
    const process = await register()
    await enqueue('event.published', event('a'))
    const [job] = await claimJobs('default', process, 1)
    await releaseJobs([job?.id ?? 0], process)
    t.match(await claimJobs('default', process, 1), [{ attempt: 1, suspect: false }])
  })
})

t.test('processes that have ended', async t => {
  t.test('a process that lost its lease can no longer change anything', async t => {
    const zombie = await register()
    const other = await register()
    await enqueueAll('event.published', [event('a'), event('b'), event('c')])
    const held = await claimJobs('default', zombie, 3)
    await execute('update job_processes set lease_until = ? where id = ?', [new Date(Date.now() - 1), zombie])
    t.same(await reapProcesses(), [zombie])
    const again: number[] = []
    // Suspects are claimed one by one.
    for (let count = 0; count < 3; count++) again.push(...(await claimJobs('default', other, 3)).map(({ id }) => id))
    t.same(
      again,
      held.map(({ id }) => id)
    )
    const [first, second, third] = held
    if (!first || !second || !third) return
    await finishJobs([first.id], zombie)
    await failJob(second, zombie, new Error('late'))
    await releaseJobs([third.id], zombie)
    const left = await rows<{ state: string; process_id: number }>('select state, process_id from jobs')
    t.same(left, Array(3).fill({ state: 'running', process_id: other }))
    t.equal(await renewProcess(zombie), false)
    t.same(await jobStats(), { processed: 0, failed: 0, enqueued: 3 })
  })

  t.test('a process that was declared gone claims nothing', async t => {
    const zombie = await register()
    await unregisterProcess(zombie)
    await enqueue('event.published', event('a'))
    t.same(await claimJobs('default', zombie, 3), [])
    t.same(await states(), ['ready'])
  })

  t.test('a job with an unknown process goes back', async t => {
    const process = await register()
    await enqueue('event.published', event('a'))
    await claimJobs('default', process, 1)
    await execute('delete from job_processes')
    await reapProcesses()
    t.same(await states(), ['ready'])
  })

  t.test('a process whose pid has ended or was reused gives its jobs back at once', async t => {
    const dead = await register()
    await enqueue('event.published', event('a'))
    await claimJobs('default', dead, 1)
    await execute('update job_processes set pid_started = pid_started + 1 where id = ?', [dead])
    t.same(await reapProcesses(), [dead])
    t.same(await states(), ['ready'])
  })

  t.test('the pid of another machine has no meaning: only the lease counts', async t => {
    const elsewhere = await register()
    await execute("update job_processes set machine = 'other', pid_started = 1 where id = ?", [elsewhere])
    t.same(await reapProcesses(), [])
  })

  t.test('a process does not declare itself gone after the machine was asleep', async t => {
    const self = await register()
    await execute('update job_processes set lease_until = ?', [new Date(Date.now() - 60_000)])
    t.same(await reapProcesses(self), [])
    t.equal(await renewProcess(self), true)
    t.same(await reapProcesses(), [])
  })

  t.test('a job that ends its process three times is dead; a job that waited at the same time is not', async t => {
    await enqueueAll('event.published', [event('killer'), event('innocent')])
    for (let count = 1; count <= 3; count++) {
      const process = await register()
      const held = await claimJobs('default', process, 10)
      t.equal(held.length, count === 1 ? 2 : 1)
      await execute('update job_processes set pid_started = 1 where id = ?', [process])
      await reapProcesses()
    }
    const found = await rows<{ state: string; crashes: number }>('select state, crashes from jobs order by id')
    t.same(found, [
      { state: 'dead', crashes: 3 },
      { state: 'ready', crashes: 1 }
    ])
    t.match(await jobStats(), { failed: 1 })
  })

  t.test('a process that unregisters leaves its jobs without blame', async t => {
    const process = await register()
    await enqueue('event.published', event('a'))
    await claimJobs('default', process, 1)
    await unregisterProcess(process)
    t.match(await row('select state, attempts, crashes from jobs'), { state: 'ready', attempts: 0, crashes: 0 })
  })
})

t.test('metrics', async t => {
  t.test('count every queue, including an empty one', async t => {
    await enqueueAll('event.published', [event('a'), event('b')])
    await enqueue('hook.deliver', { deliveryId: 1 }, { runAt: new Date(Date.now() + 60_000) })
    await execute('update jobs set run_at = ?', [new Date(Date.now() - 5000)])
    const metrics = await queueMetrics()
    t.same(Object.keys(metrics), [...QUEUES])
    t.equal(metrics.default?.backlog, 2)
    t.ok((metrics.default?.latency ?? 0) >= 5)
    t.same(metrics.hooks, { backlog: 0, latency: 0 })
    t.match(await jobStats(), { enqueued: 3 })
  })

  t.test('show processes with the jobs that they run now', async t => {
    const process = await register(2)
    await enqueueAll('event.published', [event('a'), event('b'), event('c')])
    t.match(await processMetrics(), [{ queues: ['default', 'hooks'], concurrency: 2, busy: 0 }])
    await claimJobs('default', process, 1)
    t.match(await processMetrics(), [{ busy: 1 }])
    await claimJobs('default', process, 2)
    t.match(await processMetrics(), [{ busy: 2 }], 'busy is never more than the concurrency')
  })

  t.test('keep the counts of processes that have ended', async t => {
    for (let count = 0; count < 3; count++) {
      const process = await register()
      await enqueueAll('event.published', [event('a'), event('b')])
      const claimed = await claimJobs('default', process, 2)
      const tally = new Tally(process)
      tally.add(
        'default',
        await finishJobs(
          claimed.map(({ id }) => id),
          process
        ),
        0
      )
      await tally.write()
      await unregisterProcess(process)
    }
    t.same(await jobStats(), { processed: 6, failed: 0, enqueued: 0 })
  })
})

t.test('many workers enqueue a tick of the schedule only once', async t => {
  const due = new Date(Math.floor(Date.now() / 60_000) * 60_000)
  const answers = await Promise.all(Array.from({ length: 12 }, () => enqueueTick('old_ticks', due)))
  t.equal(answers.filter(Boolean).length, 1)
  t.equal(await enqueueTick('expired_sessions', due), true)
  t.equal((await listJobs({ queue: 'maintenance' })).length, 2)
})
