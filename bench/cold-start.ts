// Measures how long `gitstead up` takes until it is ready, on an empty home and on an existing one, and how long the
// smallest command takes.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../src/config.js'
import { startAppliance } from './lib/appliance.js'
import { temporaryFolder } from './lib/clean-up.js'
import { median, percentile, report } from './lib/figure.js'
import { cpuOf } from './lib/processes.js'

const ROUNDS = 5

interface Start {
  readonly seconds: number
  /** Seconds of processor of all processes. */
  readonly processor: number
}

async function readyIn(home: string): Promise<Start> {
  const appliance = await startAppliance({ home })
  const { readyAfter, parts } = appliance
  const processor = cpuOf(parts.supervisor)
  await appliance.stop()
  return { seconds: readyAfter / 1000, processor }
}

async function measureStarts(): Promise<void> {
  const [first, later]: [Start[], Start[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    const home = temporaryFolder()
    first.push(await readyIn(home))
    later.push(await readyIn(home))
    rmSync(home, { recursive: true })
  }
  for (const [name, starts, limit] of [
    ['first start', first, 5],
    ['cold start', later, 1]
  ] as const) {
    const times = starts.map(({ seconds }) => seconds)
    const cost = median(starts.map(({ processor }) => processor)) * 1000
    const detail = { worst_s: percentile(times, 1), starts: ROUNDS, processor_ms: cost }
    report({ name, value: median(times), unit: 's', limit, better: 'lower', detail })
  }
}

function measureVersion(): void {
  const time = (program: string, args: readonly string[]) => {
    const started = performance.now()
    execFileSync(program, args, { stdio: 'ignore' })
    return performance.now() - started
  }
  const [ours, node]: [number[], number[]] = [[], []]
  for (let round = 0; round < 15; round++) {
    ours.push(time(join(root, 'bin/gitstead'), ['--version']))
    node.push(time(process.execPath, ['-e', '0']))
  }
  report({
    name: 'gitstead --version',
    value: median(ours),
    unit: 'ms',
    limit: null,
    better: 'lower',
    comparison: `bare node takes ${Math.round(median(node))} ms`
  })
}

await measureStarts()
measureVersion()
