// One loop in this process, on a real queue: the jobs that it takes and gives back, and that it leaves no jobs behind.
import { setTimeout as sleep } from 'node:timers/promises'
import { importLanes } from '../../src/areas/projects/imports/fill-repository.js'
import { joinMachines } from '../../src/cluster/machines.js'
import { config } from '../../src/config.js'
import { closeDatabase } from '../../src/db/connect/connection.js'
import { execute, row, rows } from '../../src/db/connect/sql.js'
import { pauseQueue, resumeQueue } from '../../src/queue/administer.js'
import { type ClaimedJob, promoteJobs } from '../../src/queue/claim.js'
import { enqueue, enqueueAll } from '../../src/queue/enqueue.js'
import { Tally } from '../../src/queue/history.js'
import type { Queue } from '../../src/queue/jobs.js'
import { jobStats } from '../../src/queue/metrics.js'
import { registerProcess, unregisterProcess } from '../../src/queue/processes.js'
import { type LaneOptions, Loop } from '../../src/worker/loop.js'
import { withLimit } from '../../src/worker/time-limit.js'
import { testDatabase } from '../helpers/database.js'
import { eventJob } from '../helpers/published.js'
import t, { type Test } from '../helpers/tap.js'
import { until } from '../helpers/until.js'

await testDatabase()

const HOUR = 3_600_000
const event = eventJob
const many = (count: number, key = 'k') => Array.from({ length: count }, (_, at) => event(`${key}${at}`))
const left = async () => (await row<{ count: number }>('select count(*) as count from jobs'))?.count ?? -1
const keyOf = ({ payload }: ClaimedJob) => (payload as { id: string }).id

t.beforeEach(async () => {
  for (const table of ['jobs', 'job_processes', 'paused_queues']) await execute(`delete from ${table}`)
  await execute('update job_totals set value = 0')
})

interface Setting {
  queue?: Queue
  concurrency?: number
  pollInterval?: number
  lanes?: LaneOptions
}

/** Makes a loop that stops when the test ends. */
async function loopOf(t: Test, run: (job: ClaimedJob, signal: AbortSignal) => Promise<void>, setting: Setting = {}) {
  const { queue = 'default', concurrency = 4, pollInterval = HOUR, lanes } = setting
  const processId = await registerProcess({ queues: [queue], concurrency })
  const tally = new Tally(processId)
  const ended = (count: number, failed: number) => tally.add(queue, count, failed)
  const loop = new Loop({ queue, processId, concurrency, pollInterval, run, ended, ...(lanes && { lanes }) })
  t.teardown(() => loop.stop(10))
  return { loop, processId, tally }
}

t.test('a loop runs any number of jobs, never more at the same time than allowed', async t => {
  let running = 0
  let most = 0
  const { loop, tally } = await loopOf(t, async () => {
    running += 1
    most = Math.max(most, running)
    await sleep(0)
    running -= 1
  })
  await enqueueAll('event.published', many(1000))
  loop.wake()
  await until('all is done', async () => (await left()) === 0)
  t.equal(most, 4)
  await loop.stop(10)
  await tally.write()
  t.same(await jobStats(), { processed: 1000, failed: 0, enqueued: 0 })
})

t.test('a drained machine, and one whose lease has ended, begin no job', async t => {
  const { loop } = await loopOf(t, async () => undefined)
  const real = performance.now
  t.teardown(async () => {
    performance.now = real
    await closeDatabase()
  })
  const drain = async (drained: boolean) => {
    await execute(`update machines set drained_at = ${drained ? 'now(3)' : 'null'}`)
    await closeDatabase()
    await joinMachines('worker')
  }
  await joinMachines('worker')
  await drain(true)
  await enqueueAll('event.published', many(3))
  loop.wake()
  await sleep(50)
  t.equal(await left(), 3)
  await drain(false)
  performance.now = () => real.call(performance) + config().queue.lease * 1000
  loop.wake()
  await sleep(50)
  t.equal(await left(), 3)
  await joinMachines()
  loop.poll()
  await until('all is done', async () => (await left()) === 0)
})

t.test('a loop reports finished tries, and how many of them failed', async t => {
  const reported = { count: 0, failed: 0 }
  const processId = await registerProcess({ queues: ['default'], concurrency: 4 })
  const loop = new Loop({
    queue: 'default',
    processId,
    concurrency: 4,
    pollInterval: HOUR,
    run: async job => {
      if (keyOf(job) === 'k3') throw new Error('not this one')
    },
    ended: (count, failed) => {
      reported.count += count
      reported.failed += failed
    }
  })
  t.teardown(() => loop.stop(10))
  await enqueueAll('event.published', many(10))
  loop.wake()
  await until('all ended', () => reported.count === 10)
  t.equal(reported.failed, 1)
})

t.test('no wake-up is lost at any moment', async t => {
  const seen = new Set<string>()
  const { loop } = await loopOf(t, async job => void seen.add(keyOf(job)))
  for (let at = 0; at < 300; at++) {
    await enqueue('event.published', event(`k${at}`))
    loop.wake()
    if (at % 7 === 0) await until('the job has run', () => seen.has(`k${at}`))
  }
  await until('all is done', async () => (await left()) === 0)
  t.equal(seen.size, 300)
})

t.test('a loop polls without wake-ups', async t => {
  const { loop } = await loopOf(t, async () => {}, { pollInterval: 20 })
  loop.wake()
  for (let round = 0; round < 3; round++) {
    await enqueue('event.published', event('a'))
    await until('the job has run', async () => (await left()) === 0)
  }
  t.pass('all were found')
})

t.test('a failed job waits, and is done when it no longer fails', async t => {
  let failing = true
  const { loop, tally } = await loopOf(t, async () => {
    if (failing) throw new Error('not yet')
  })
  await enqueueAll('event.published', many(3))
  loop.wake()
  const delayed = () => rows("select id from jobs where state = 'delayed' and error like '%not yet%'")
  await until('all have failed', async () => (await delayed()).length === 3)
  failing = false
  t.equal(await promoteJobs(new Date(Date.now() + HOUR)), 3)
  loop.wake()
  await until('all is done', async () => (await left()) === 0)
  await loop.stop(10)
  await tally.write()
  t.same(await jobStats(), { processed: 6, failed: 3, enqueued: 0 })
})

t.test('a loop takes nothing from a paused queue until it is resumed', async t => {
  const { loop } = await loopOf(t, async () => {}, { pollInterval: 10 })
  await pauseQueue('default')
  await enqueueAll('event.published', many(5))
  loop.wake()
  await sleep(100)
  t.equal(await left(), 5)
  await resumeQueue('default')
  await until('all is done', async () => (await left()) === 0)
})

t.test('slow jobs of other queues are not claimed early', async t => {
  const { loop, processId } = await loopOf(t, () => new Promise(() => {}), { queue: 'hooks', concurrency: 2 })
  await enqueueAll(
    'hook.deliver',
    Array.from({ length: 10 }, (_, at) => ({ deliveryId: at }))
  )
  loop.wake()
  const held = async () => (await rows('select id from jobs where process_id = ?', [processId])).length
  await until('two run', async () => (await held()) === 2)
  loop.wake()
  await sleep(50)
  t.equal(await held(), 2)
})

t.test('long imports of one lane keep their share', async t => {
  const ends = new Map<number, () => void>()
  const run = ({ id }: ClaimedJob) => new Promise<void>(resolve => ends.set(id, resolve))
  const { loop } = await loopOf(t, run, { queue: 'imports', concurrency: 3, lanes: importLanes(3) })
  await enqueueAll(
    'project.fill',
    [1, 2, 3].map(projectId => ({ projectId })),
    { lane: 1 }
  )
  loop.wake()
  await until('two run', () => ends.size === 2)
  const [first, second] = ends.keys()
  // A job counts as slow after a time: a lane with a slow job gets no other slot.
  await sleep(20)
  ends.get(first ?? 0)?.()
  await until('the third job begins while the second runs', () => ends.size === 3)
  for (const id of [second, ...ends.keys()]) ends.get(id ?? 0)?.()
  await until('all is done', async () => (await left()) === 0)
})

t.test('stopping', async t => {
  t.test('waits for running jobs, gives back jobs that have not started, and leaves nothing behind', async t => {
    const begun: string[] = []
    let go: () => void = () => undefined
    const gate = new Promise<void>(resolve => (go = resolve))
    const { loop, processId, tally } = await loopOf(t, async job => {
      begun.push(keyOf(job))
      // The quick jobs come first, so that the loop claims more jobs than it runs.
      if (keyOf(job).startsWith('slow')) await gate
    })
    await enqueueAll('event.published', [...many(200, 'quick'), ...many(60, 'slow')])
    loop.wake()
    await until('four run', () => begun.filter(key => key.startsWith('slow')).length === 4)
    const stopped = loop.stop(HOUR)
    await until('the others are back', async () => {
      const found = await row<{ count: number }>("select count(*) as count from jobs where state = 'ready'")
      return found?.count === 56
    })
    go()
    await stopped
    t.same(await rows("select id from jobs where state = 'running'"), [])
    t.equal(await left(), 56)
    t.match(await rows('select distinct attempts, crashes from jobs'), [{ attempts: 0, crashes: 0 }])
    await tally.write()
    await unregisterProcess(processId)
    t.match(await jobStats(), { processed: 204, failed: 0 })
  })

  t.test('ends jobs that listen to their signal, and gives them back without a try', async t => {
    let begun = 0
    const { loop } = await loopOf(t, async (_, signal) => {
      begun += 1
      await sleep(HOUR, undefined, { signal })
    })
    await enqueueAll('event.published', many(2))
    loop.wake()
    await until('both run', () => begun === 2)
    await loop.stop(10)
    await until('both are back', async () => {
      return (await rows("select id from jobs where state = 'ready' and attempts = 0")).length === 2
    })
    t.same(await rows("select id from jobs where state = 'running'"), [])
  })

  t.test('does not wait forever for a job that ignores its signal: it goes back with its process', async t => {
    let begun = 0
    const { loop, processId } = await loopOf(t, () => {
      begun += 1
      return new Promise(() => {})
    })
    await enqueue('event.published', event('deaf'))
    loop.wake()
    await until('it runs', () => begun === 1)
    await loop.stop(20)
    t.match(await rows('select state from jobs'), [{ state: 'running' }])
    await unregisterProcess(processId)
    t.match(await rows('select state, attempts, crashes from jobs'), [{ state: 'ready', attempts: 0, crashes: 0 }])
  })

  t.test('leaves no job behind at any moment of a claim', async t => {
    for (let round = 0; round < 20; round++) {
      const { loop, processId } = await loopOf(t, async () => {}, { pollInterval: 1 })
      await enqueueAll('event.published', many(30))
      loop.wake()
      await sleep(round / 2)
      await loop.stop(1000)
      await unregisterProcess(processId)
      t.same(await rows("select id from jobs where state = 'running'"), [])
    }
    t.same(await rows('select id from job_processes'), [])
  })

  t.test('takes no more jobs, even after a wake-up', async t => {
    const { loop } = await loopOf(t, async () => {})
    await loop.stop(10)
    await enqueue('event.published', event('late'))
    loop.wake()
    await sleep(50)
    t.match(await rows('select state from jobs'), [{ state: 'ready' }])
  })
})

t.test('a job whose process died runs on its own', async t => {
  await enqueueAll('event.published', [...many(3, 'first'), event('suspect'), ...many(20, 'later')])
  await execute(`update jobs set crashes = 1 where payload like '%suspect%'`)
  let running = 0
  let company = -1
  const { loop } = await loopOf(t, async job => {
    running += 1
    if (keyOf(job) === 'suspect') {
      company = running - 1
      const held = await rows("select id from jobs where state = 'running'")
      t.equal(held.length, 1, 'no other job runs at the same time')
    }
    await sleep(2)
    running -= 1
  })
  loop.wake()
  await until('all is done', async () => (await left()) === 0)
  t.equal(company, 0)
})

t.test('finished jobs are always removed, in any rhythm', async t => {
  const { loop } = await loopOf(t, async job => sleep(Number(keyOf(job).slice(1)) % 3))
  for (let round = 0; round < 30; round++) {
    await enqueueAll('event.published', many(1 + (round % 12)))
    loop.wake()
    await until('the table is empty', async () => (await left()) === 0)
  }
  t.pass('no job waited for the next one')
})

t.test('withLimit', async t => {
  t.test('accepts work that ends in time', async t => {
    const controller = new AbortController()
    await withLimit(sleep(1), 10, controller)
    t.notOk(controller.signal.aborted)
  })

  t.test('gives up on work that takes too long, also when the work ignores the signal', async t => {
    const controller = new AbortController()
    await t.rejects(withLimit(new Promise(() => {}), 0.01, controller), /did not end within 0.01 s/)
    t.ok(controller.signal.aborted)
  })

  t.test('passes on a failure, and ignores a failure that comes too late', async t => {
    await t.rejects(withLimit(Promise.reject(new Error('broken')), 10, new AbortController()), /broken/)
    const late = sleep(30).then(() => Promise.reject(new Error('late')))
    await t.rejects(withLimit(late, 0.001, new AbortController()), /did not end/)
    await sleep(50)
  })

  t.test('accepts a week, which is longer than a timer can wait', async t => {
    await t.resolves(withLimit(sleep(1), 30 * 86400, new AbortController()))
  })
})
