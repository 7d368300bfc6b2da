// Measures the dashboard with a million jobs in the database: how long it takes from a key to its frame of 200x60 with
// every pane full, how long the statements for its data take, how long a search among all jobs takes, and how long one
// plain frame takes from the start of its command.
import { execFileSync } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { jobOverview } from '../src/areas/upkeep/jobs/job-overview.js'
import { useProductionReact } from '../src/cli/dashboard/environment.js'
import { localSource } from '../src/cli/dashboard/local-source.js'
import { Screen } from '../src/cli/dashboard/screen.js'
import type { JobOverview, JobSource, WatchedBuild } from '../src/cli/dashboard/source.js'
import { root } from '../src/config.js'
import { execute } from '../src/db/connect/sql.js'
import { pauseQueue } from '../src/queue/administer.js'
import { searchJobs } from '../src/queue/search.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { median, percentile, report } from './lib/figure.js'

const JOBS = 1_000_000
/** How many jobs one statement inserts: one statement for all would exceed the statement limit. */
const CHUNK = 100_000
const FRAMES = 1000
/** Frames that are drawn before the measurement: during the first ones, the program is still being compiled. */
const WARM = 100
const LOOKS = 100
const STARTS = 11

/** Inserts ready and dead jobs, failures, and the figures of an hour. */
async function seed(): Promise<void> {
  for (const queue of ['default', 'builds', 'hooks', 'mail', 'maintenance']) await pauseQueue(queue)
  const now = new Date()
  for (let from = 0; from < JOBS; from += CHUNK) {
    await execute(
      `insert into jobs (queue, name, payload, state, run_at, error, created_at)
       select elt(1 + seq mod 4, 'default', 'builds', 'hooks', 'mail'), 'event.published',
         concat('{"id":"k', ? + seq, '","at":"2026-01-02T03:04:05.678Z","event":{"kind":"user.created"}}'),
         if(seq mod 10, 'ready', 'dead'),
         ? - interval seq second, if(seq mod 10, null, concat('Error: no answer to ', seq)), ?
       from seq_1_to_${CHUNK}`,
      [from, now, now]
    )
  }
  await execute("insert into job_failures select id, run_at from jobs where state = 'dead'")
  await execute(
    `insert into queue_minutes (minute, queue, process_id, processed)
     select from_unixtime(60 * (unix_timestamp() div 60 - seq mod 60)), elt(1 + seq mod 4, 'default', 'builds', 'hooks', 'mail'),
       1000 + seq div 60, seq mod 500 from seq_1_to_2400`
  )
  await execute('analyze table jobs, job_failures, queue_minutes')
}

async function measureStatements(): Promise<void> {
  const looks: number[] = []
  for (let look = 0; look < LOOKS; look++) {
    const started = performance.now()
    await jobOverview()
    looks.push(performance.now() - started)
  }
  const count: number[] = []
  for (let look = 0; look < 10; look++) {
    const started = performance.now()
    await execute('select queue, state, count(*), min(run_at) from jobs group by queue, state')
    count.push(performance.now() - started)
  }
  report({
    name: 'dashboard, its statements',
    value: percentile(looks, 0.5),
    unit: 'ms p50',
    limit: 16,
    better: 'lower',
    detail: { p99_ms: percentile(looks, 0.99), count_p50_ms: median(count), jobs: JOBS }
  })
}

/** Searches for a text that no job contains, so that all jobs are searched. */
async function measureSearch(): Promise<void> {
  const steps: number[] = []
  let past: number | undefined
  do {
    const started = performance.now()
    const { next } = await searchJobs({ text: 'No Such Text', past })
    steps.push(performance.now() - started)
    past = next ?? undefined
  } while (past !== undefined)
  report({
    name: 'dashboard, a step of a search',
    value: percentile(steps, 0.99),
    unit: 'ms p99',
    limit: 250,
    better: 'lower',
    detail: { whole_s: steps.reduce((sum, step) => sum + step, 0) / 1000, steps: steps.length, jobs: JOBS }
  })
}

/** The real source, plus records for the panes that are empty in this appliance. */
function fullSource(): JobSource {
  const source = localSource()
  const at = new Date()
  const builds = Array.from(
    { length: 100 },
    (_, each): WatchedBuild => ({
      id: 1000 + each,
      project_id: 1,
      project: `group/subgroup-${each}/project`,
      name: `spec ${each}`,
      stage: 'test',
      ref: `feature/branch-${each}`,
      status: 'running',
      created_at: at,
      started_at: at,
      finished_at: null,
      hostname: 'worker-1',
      pid: each,
      runner: null
    })
  )
  const hooks = Array.from({ length: 20 }, (_, each) => ({
    id: each,
    receiver: `https://receiver-${each}.example.org/hooks/gitstead`,
    project: null,
    failures: each,
    since: at,
    next_try_at: at,
    pending: each,
    dead: each,
    event: 'push',
    status: 503,
    error: 'the receiver answered 503 Service Unavailable'
  }))
  const full = (overview: JobOverview): JobOverview => ({ ...overview, builds, hooks })
  return { ...source, overview: async () => full(await source.overview()), builds: async () => builds }
}

/** Presses keys in a terminal of 200x60, and measures until the frame of each is written. */
async function measureFrames(): Promise<void> {
  useProductionReact()
  const [{ render }, { createElement }, { App }, { Held }] = await Promise.all([
    import('ink'),
    import('react'),
    import('../src/cli/dashboard/app.js'),
    import('../src/cli/dashboard/drawing/painted-frame.js')
  ])
  let written = () => undefined as unknown
  const write = () => {
    written()
    return true
  }
  const terminal = Object.assign(new EventEmitter(), { columns: 200, rows: 60, write })
  const screen = new Screen(terminal as unknown as NodeJS.WriteStream)
  const keyboard = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => undefined,
    ref: () => undefined,
    unref: () => undefined
  })
  const source = fullSource()
  const first = await source.overview()
  screen.enter()
  const props = { source, first, screen, interval: 2, readOnly: false, theme: 'color' } as const
  const app = render(createElement(Held, { value: screen.hold }, createElement(App, props)), {
    stdout: screen as unknown as NodeJS.WriteStream,
    stdin: keyboard as unknown as NodeJS.ReadStream,
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false
  })
  const draw = async (number: number) => {
    const drawn = new Promise<number>(resolve => {
      written = () => resolve(performance.now())
    })
    const started = performance.now()
    // Every pane is drawn with a different selection. Each of these keys changes the frame.
    keyboard.write(number % 2 === 0 ? '\t' : '*')
    const ended = await drawn
    // The rest of the frame must not count for the next one.
    await new Promise(resolve => setImmediate(resolve))
    return ended - started
  }
  const warm: number[] = []
  for (let number = 0; number < WARM; number++) warm.push(await draw(number))
  const before = process.cpuUsage()
  const times: number[] = []
  for (let number = 0; number < FRAMES; number++) times.push(await draw(number))
  const { user, system } = process.cpuUsage(before)
  screen.leave()
  app.unmount()
  report({
    name: 'dashboard, a frame of 200x60',
    value: percentile(times, 0.99),
    unit: 'ms p99',
    limit: 16,
    better: 'lower',
    detail: {
      p50_ms: percentile(times, 0.5),
      worst_ms: Math.max(...times),
      cpu_ms: (user + system) / 1000 / FRAMES,
      processor_ms: (user + system) / 1000 / FRAMES,
      frames: FRAMES,
      jobs: JOBS,
      worst_of_first_100_ms: Math.max(...warm)
    }
  })
}

function measureStart({ home }: Prepared): void {
  const time = (args: readonly string[]) => {
    const started = performance.now()
    execFileSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
    return performance.now() - started
  }
  const [once, node]: [number[], number[]] = [[], []]
  for (let round = 0; round < STARTS; round++) {
    once.push(time([join(root, 'bin/gitstead'), 'jobs', 'top', '--once', '--home', home]))
    node.push(time(['-e', '0']))
  }
  report({
    name: 'gitstead jobs top --once',
    value: median(once),
    unit: 'ms',
    limit: 500,
    better: 'lower',
    comparison: `bare node takes ${Math.round(median(node))} ms`,
    detail: { worst_ms: Math.max(...once), jobs: JOBS }
  })
}

async function measure(appliance: Prepared): Promise<void> {
  await seed()
  await measureStatements()
  await measureSearch()
  await measureFrames()
  measureStart(appliance)
}

await withAppliance({}, measure)
