// Measures `migrate run` with a project of many issues and notes from a source that answers at once, and a second run in which nothing
// has changed. The start of the commands counts too.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../src/config.js'
import { row } from '../src/db/connect/sql.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { temporaryFolder } from './lib/clean-up.js'
import { report } from './lib/figure.js'
import { residentOf } from './lib/processes.js'
import { serve } from './lib/program.js'

const ISSUES = Number(process.env.BENCH_ISSUES ?? 10_000)
const NOTES = Number(process.env.BENCH_NOTES ?? 50_000)

interface Cost {
  readonly seconds: number
  /** Megabytes. */
  readonly peak: number
}

async function command(home: string, args: readonly string[], input = ''): Promise<Cost> {
  const started = performance.now()
  const environment = { ...process.env, GITSTEAD_HOOKS_ALLOW: '127.0.0.1', GITSTEAD_LOG_LEVEL: 'error' }
  const child = spawn(join(root, 'bin/gitstead'), ['migrate', ...args, '--home', home], {
    stdio: ['pipe', 'ignore', 'inherit'],
    env: environment
  })
  child.stdin.end(input)
  const ended = once(child, 'exit')
  let peak = 0
  while (child.exitCode === null && child.signalCode === null) {
    peak = Math.max(peak, residentOf(child.pid ?? 0).peak)
    await sleep(100)
  }
  const [code] = await ended
  if (code !== 0) throw new Error(`migrate ${args[0]} ended with ${code}`)
  return { seconds: (performance.now() - started) / 1000, peak }
}

function makeRepository(): string {
  const folder = temporaryFolder()
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  git('init', '-q', '--bare', '-b', 'master', 'large.git')
  return folder
}

async function measure({ home, admin }: Prepared): Promise<void> {
  const repositories = await serve('http-backend', [makeRepository()])
  const source = await serve('large-source', [
    ...[String(ISSUES), String(NOTES)],
    `http://127.0.0.1:${repositories.port}/large.git`
  ])
  try {
    const options = ['--kind', 'github', '--token-stdin', '--rate', '1000', '--map', `crew=${admin.username}`]
    await command(home, ['add', 'large', `http://127.0.0.1:${source.port}`, ...options], 'token\n')
    const first = await command(home, ['run', 'large'])
    const [issues, notes] = [await count('issues'), await count('notes')]
    if (issues !== ISSUES || notes !== NOTES) throw new Error(`${issues} issues and ${notes} notes came`)
    const second = await command(home, ['run', 'large'])
    const detail = { issues, notes }
    report({ name: 'migrate run', value: first.seconds, unit: 's', limit: 600, better: 'lower', detail })
    report({ name: 'migrate run: memory', value: first.peak, unit: 'MB', limit: 200, better: 'lower', detail })
    report({ name: 'migrate run: nothing has changed', value: second.seconds, unit: 's', limit: null, better: 'lower' })
  } finally {
    source.stop()
    repositories.stop()
  }
}

const count = async (table: string) =>
  Number((await row<{ total: number }>(`select count(*) as total from ${table}`, []))?.total)

await withAppliance({}, measure)
