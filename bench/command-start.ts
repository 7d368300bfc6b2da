// Measures how long commands take from start to end while the appliance is running, compared with a bare node.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from '../src/config.js'
import { startAppliance } from './lib/appliance.js'
import { median, percentile, report } from './lib/figure.js'

const ROUNDS = 15

/** Seconds, for a machine whose bare node takes 40 ms; the report has the time of this machine. */
const LIMITS: readonly [command: string, limit: number][] = [
  ['users list', 0.15],
  ['jobs list', 0.15],
  ['jobs top --once', 0.5],
  ['openapi', 1],
  ['__names users a', 0.15]
]

const appliance = await startAppliance()
// A command asks the server for its address only when the configuration has another one.
const environment = { ...process.env, GITSTEAD_HOME: appliance.home, GITSTEAD_PORT: String(appliance.port) }

function seconds(program: string, args: readonly string[]): number {
  const started = performance.now()
  execFileSync(program, args, { stdio: 'ignore', env: environment })
  return (performance.now() - started) / 1000
}

const node: number[] = []
const taken = new Map(LIMITS.map(([command]) => [command, [] as number[]]))
// In turns, so that a busy moment of the machine is in all of them.
for (let round = 0; round < ROUNDS; round++) {
  node.push(seconds(process.execPath, ['-e', '0']))
  for (const [command, times] of taken) times.push(seconds(join(root, 'bin/gitstead'), command.split(' ')))
}
await appliance.stop()

for (const [command, limit] of LIMITS) {
  const times = taken.get(command) ?? []
  report({
    name: `gitstead ${command}`,
    value: median(times),
    unit: 's',
    limit,
    better: 'lower',
    comparison: `bare node takes ${Math.round(median(node) * 1000)} ms`,
    detail: { worst_s: percentile(times, 1), least_s: Math.min(...times), rounds: ROUNDS }
  })
}
