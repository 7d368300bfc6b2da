// Measures the resident memory of an idle appliance, right after its start and two minutes later, and the processor time of the second
// minute: in the first one, the new processes still collect garbage.
import { setTimeout as sleep } from 'node:timers/promises'
import { startAppliance } from './lib/appliance.js'
import { countCost } from './lib/cost.js'
import { report, round } from './lib/figure.js'
import { memoryOf } from './lib/processes.js'

const QUIET_MS = 60_000

const appliance = await startAppliance()

function sample() {
  return Object.fromEntries(
    Object.entries(appliance.parts).map(([name, pid]) => {
      const { rss, pss } = memoryOf(pid)
      return [name, { rss: round(rss), pss: round(pss) }]
    })
  )
}

const sum = (parts: ReturnType<typeof sample>, kind: 'rss' | 'pss', names: readonly string[]) =>
  names.reduce((total, name) => total + (parts[name]?.[kind] ?? 0), 0)

const atStart = sample()
await sleep(QUIET_MS)
const cost = countCost(appliance.parts)
await sleep(QUIET_MS)
const { processor_ms, ...each } = cost(1)
const quiet = sample()
await appliance.stop()
const counted = ['server', 'worker', 'database']
report({
  name: 'idle memory, server + worker + database',
  value: sum(quiet, 'rss', counted),
  unit: 'MB resident',
  limit: 250,
  better: 'lower',
  detail: {
    at_start: sum(atStart, 'rss', counted),
    shared_once: sum(quiet, 'pss', counted),
    with_supervisor: sum(quiet, 'rss', [...counted, 'supervisor']),
    parts: quiet
  }
})
report({
  name: 'processor time of a quiet minute',
  value: processor_ms / 1000,
  unit: 's',
  limit: 0.5,
  better: 'lower',
  detail: each
})
