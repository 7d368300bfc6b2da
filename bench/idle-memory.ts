// Measures the resident memory of an idle appliance: right after its start, and a minute later.
import { setTimeout as sleep } from 'node:timers/promises'
import { startAppliance } from './lib/appliance.js'
import { report, round } from './lib/figure.js'
import { cpuOf, memoryOf } from './lib/processes.js'

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
const before = cpuOf(appliance.parts.supervisor)
await sleep(QUIET_MS)
const spent = cpuOf(appliance.parts.supervisor) - before
const quiet = sample()
await appliance.stop()
const counted = ['server', 'worker', 'database']
report({
  name: 'idle memory, server + worker + database',
  value: sum(quiet, 'rss', counted),
  unit: 'MB resident',
  limit: 300,
  better: 'lower',
  detail: {
    at_start: sum(atStart, 'rss', counted),
    shared_once: sum(quiet, 'pss', counted),
    with_supervisor: sum(quiet, 'rss', [...counted, 'supervisor']),
    processor_s_in_a_quiet_minute: spent,
    parts: quiet
  }
})
