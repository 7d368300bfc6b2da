// Measures one operation of the table: its rate or its time, and the processor time of all processes for each.
import { setTimeout as sleep } from 'node:timers/promises'
import { row } from '../../src/db/connect/sql.js'
import type { Prepared } from './appliance.js'
import { countCost } from './cost.js'
import { median, report } from './figure.js'
import { type Burst, burst } from './load.js'

/** Counts rather than times: code that has run more often is faster, so a slow moment of the machine must not make it colder. */
const WARM = { most: 600, milliseconds: 2000 }
const MEASURED = { most: 1500, milliseconds: 5000 }
const PAUSE_MS = 50
const CONNECTIONS = 8

/** Waits until the worker has finished the jobs that the operations caused, except those that are due later. */
async function quiet(): Promise<void> {
  while (await row("select 1 as busy from jobs where state in ('ready', 'running') limit 1")) await sleep(PAUSE_MS)
}

async function publish(appliance: Prepared, name: string, warm: () => Promise<unknown>, what: Omit<Burst, 'port'>) {
  await warm()
  await quiet()
  const cost = countCost(appliance.parts)
  const { perSecond, p50, p99, count } = await burst({ ...what, port: appliance.port })
  await quiet()
  report({
    name: `table, ${name}`,
    value: perSecond,
    unit: 'requests/s',
    limit: null,
    better: 'higher',
    detail: { ...cost(count), p50_ms: p50, p99_ms: p99 }
  })
}

/** Sends requests in turn, over eight connections unless the operation is about the number of writers. */
export function repeated(appliance: Prepared, name: string, requests: readonly string[], connections = CONNECTIONS) {
  const warm = () => burst({ port: appliance.port, requests, connections, ...WARM })
  return publish(appliance, name, warm, { requests, connections, ...MEASURED })
}

/** Sends each request once; the first `warm` requests do not count. */
export function once(
  appliance: Prepared,
  name: string,
  requests: readonly string[],
  { warm, connections = CONNECTIONS }: { readonly warm: number; readonly connections?: number }
) {
  const all = (some: readonly string[]) => ({ requests: some, connections, milliseconds: 60_000, most: some.length })
  const first = () => burst({ ...all(requests.slice(0, warm)), port: appliance.port })
  return publish(appliance, name, first, all(requests.slice(warm)))
}

/** Does the work one time after the other; the first time does not count, unless it is the only one. */
export async function timed(
  appliance: Prepared,
  name: string,
  times: number,
  work: (time: number) => Promise<unknown>
): Promise<void> {
  if (times > 1) await work(0)
  await quiet()
  const cost = countCost(appliance.parts)
  const took: number[] = []
  for (let time = 1; time <= times; time++) {
    const started = performance.now()
    await work(time)
    took.push(performance.now() - started)
  }
  await quiet()
  report({
    name: `table, ${name}`,
    value: median(took),
    unit: 'ms',
    limit: null,
    better: 'lower',
    detail: { ...cost(times), times }
  })
}
