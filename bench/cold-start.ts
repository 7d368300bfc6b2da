// Measures how long `gitstead up` takes until it is ready, on an empty home and on an existing one, and how long the
// smallest command takes.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../src/config.js'
import { startAppliance } from './lib/appliance.js'
import { temporaryFolder } from './lib/clean-up.js'
import { median, percentile, report } from './lib/figure.js'

const ROUNDS = 5

async function readyIn(home: string): Promise<number> {
  const appliance = await startAppliance({ home })
  await appliance.stop()
  return appliance.readyAfter / 1000
}

async function measureStarts(): Promise<void> {
  const [first, later]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    const home = temporaryFolder()
    first.push(await readyIn(home))
    later.push(await readyIn(home))
    rmSync(home, { recursive: true })
  }
  for (const [name, times, limit] of [
    ['first start', first, 5],
    ['cold start', later, 2]
  ] as const) {
    const detail = { worst_s: percentile(times, 1), starts: ROUNDS }
    report({ name, value: median(times), unit: 's', limit, better: 'lower', detail })
  }
}

function measureVersion(): void {
  const time = (args: readonly string[]) => {
    const started = performance.now()
    execFileSync(process.execPath, args, { stdio: 'ignore' })
    return performance.now() - started
  }
  const [ours, node]: [number[], number[]] = [[], []]
  for (let round = 0; round < 15; round++) {
    ours.push(time([join(root, 'bin/gitstead'), '--version']))
    node.push(time(['-e', '0']))
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
