// Measures the queue with the appliance's own worker: the rate of jobs that do almost nothing, and the time from enqueue to
// start.
import { setTimeout as sleep } from 'node:timers/promises'
import { row, rows } from '../src/db/connect/sql.js'
import { pauseQueue, resumeQueue } from '../src/queue/administer.js'
import { enqueue, enqueueAll } from '../src/queue/enqueue.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { countCost } from './lib/cost.js'
import { median, percentile, report } from './lib/figure.js'
import { cpuOf } from './lib/processes.js'
import { ask } from './lib/rest.js'

const JOBS = 20_000
const ROUNDS = 3
const SINGLE = 500
const MOMENT = '2026-01-02T03:04:05.678Z'
const HAPPENING = {
  kind: 'user.created',
  user: {
    id: 1,
    username: 'nobody',
    name: 'Nobody',
    email: 'nobody@example.org',
    created_at: MOMENT,
    updated_at: MOMENT
  }
}

async function drained(): Promise<void> {
  while (await row("select 1 as busy from jobs where queue = 'default' limit 1")) await sleep(5)
}

/** Each job is an event that no hook wants: its handler looks for hooks and ends. */
async function measureThroughput({ parts }: Prepared): Promise<void> {
  const rates: number[] = []
  const cpu: number[] = []
  const costs: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await drained()
    await pauseQueue('default')
    const payloads = Array.from({ length: JOBS }, (_, number) => ({
      id: `bench:${round}:${number}`,
      at: new Date().toISOString(),
      event: HAPPENING
    }))
    await enqueueAll('event.published', payloads)
    const [started, before, cost] = [performance.now(), cpuOf(parts.worker), countCost(parts)]
    await resumeQueue('default')
    await drained()
    rates.push(JOBS / ((performance.now() - started) / 1000))
    cpu.push(((cpuOf(parts.worker) - before) / JOBS) * 1e6)
    costs.push(cost(JOBS).processor_ms)
  }
  report({
    name: 'queue',
    value: median(rates),
    unit: 'jobs/s',
    limit: 5000,
    better: 'higher',
    detail: { jobs: JOBS, worker_us: Math.round(median(cpu)), processor_ms: median(costs) }
  })
}

/**
 * Measures the time from enqueue to the row that the handler writes, which is a little more than from enqueue to start.
 * The deliveries of the hook stay in their paused queue.
 */
async function measureLatency(appliance: Prepared): Promise<void> {
  await pauseQueue('hooks')
  await ask(appliance, 'POST', '/hooks', { url: 'http://127.0.0.1:9/' })
  await drained()
  const cost = countCost(appliance.parts)
  const enqueuedAt = new Map<string, number>()
  for (let number = 0; number < SINGLE; number++) {
    const key = `single:${number}`
    enqueuedAt.set(key, Date.now())
    await enqueue('event.published', { id: key, at: new Date().toISOString(), event: HAPPENING })
    await sleep(2 + (number % 11))
  }
  await drained()
  const made = await rows<{ event_key: string; created_at: Date }>(
    "select event_key, created_at from hook_deliveries where event_key like 'single:%'"
  )
  if (made.length !== SINGLE) throw new Error(`${made.length} of ${SINGLE} jobs have run`)
  const waits = made.map(({ event_key, created_at }) => created_at.getTime() - (enqueuedAt.get(event_key) ?? 0))
  report({
    name: 'enqueue to start',
    value: percentile(waits, 0.99),
    unit: 'ms p99',
    limit: 50,
    better: 'lower',
    detail: { p50_ms: percentile(waits, 0.5), jobs: SINGLE, ...cost(SINGLE) }
  })
}

await withAppliance({ environment: { GITSTEAD_HOOKS_ALLOW: '127.0.0.1' } }, async appliance => {
  await measureThroughput(appliance)
  await measureLatency(appliance)
})
