// Starts an operation at each planned time, even while earlier ones are still waiting. Its time counts from the planned time,
// so that the wait of a client behind slow answers is included ("coordinated omission").
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../figure.js'
import { Client } from './client.js'
import { mixOf } from './mix.js'
import type { Arrivals, OpenResult } from './open-load.js'

/** When this many operations wait, the server cannot keep up: the run ends and reports it. */
const MOST_OPEN = 4000
/** Operations that have no answer this long after the last arrival are errors. */
const PATIENCE_MS = 20_000

process.on('message', (what: Arrivals) => {
  run(what).then(
    result => process.send?.(result),
    error => process.send?.({ error: String(error) })
  )
})
process.on('disconnect', () => process.exit(0))

async function run({ port, dataset, seed, perSecond, milliseconds, only }: Arrivals): Promise<OpenResult> {
  const client = new Client(port)
  const mix = mixOf(client, dataset, seed, only)
  const taken = new Map<string, number[]>()
  const errors = new Map<string, number>()
  let open = 0
  let started = 0
  const begun = performance.now()
  const planned = Math.round((perSecond * milliseconds) / 1000)
  let overrun = false

  const fail = (text: string) => errors.set(text, (errors.get(text) ?? 0) + 1)
  function start(due: number): void {
    const { kind, run: work } = mix.next()
    open++
    work()
      .catch(error => fail(`${kind}: ${error instanceof Error ? error.message : String(error)}`.slice(0, 300)))
      .finally(() => {
        open--
        const times = taken.get(kind) ?? []
        if (times.length === 0) taken.set(kind, times)
        times.push(performance.now() - due)
      })
  }

  while (started < planned && !overrun) {
    const now = performance.now()
    const due = Math.min(planned, Math.floor(((now - begun) / 1000) * perSecond) + 1)
    while (started < due) start(begun + (started++ / perSecond) * 1000)
    overrun = open > MOST_OPEN
    await sleep(1)
  }
  const end = performance.now() + PATIENCE_MS
  while (open > 0 && performance.now() < end && !overrun) await sleep(5)
  for (let left = open; left > 0; left--) fail('no answer')
  client.close()
  const all = Float64Array.from([...taken.values()].flat())
  return {
    ...quantiles(all),
    worst: percentile(all, 1),
    count: all.length,
    kinds: [...taken].map(([kind, times]) => ({ kind, count: times.length, ...quantiles(times) })),
    errors: Object.fromEntries(errors),
    errorCount: [...errors.values()].reduce((sum, count) => sum + count, 0),
    overrun,
    connections: client.peak
  }
}

const quantiles = (times: ArrayLike<number>) => ({
  p50: percentile(times, 0.5),
  p90: percentile(times, 0.9),
  p99: percentile(times, 0.99)
})
