// Measures the dashboard with 100k jobs in the database: how long it takes to draw a frame of 200x60 with every pane
// full, and how long the statements for its data take.
import { EventEmitter } from 'node:events'
import { jobOverview } from '../src/areas/jobs/job-overview.js'
import { viewJob } from '../src/areas/jobs/jobs.view.js'
import { useProductionReact } from '../src/cli/dashboard/environment.js'
import { PANES } from '../src/cli/dashboard/keymap.js'
import { Screen } from '../src/cli/dashboard/screen.js'
import { firstState } from '../src/cli/dashboard/state.js'
import { execute } from '../src/db/sql.js'
import { listJobs, pauseQueue } from '../src/queue/administer.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { percentile, report } from './lib/figure.js'

const JOBS = 100_000
const FRAMES = 300
/** Frames that are drawn before the measurement: during the first ones the program is still being compiled. */
const WARM = 30
const LOOKS = 100

/** Inserts ready and dead jobs, failures, and the figures of an hour. */
async function seed(): Promise<void> {
  for (const queue of ['default', 'builds', 'hooks', 'mail', 'maintenance']) await pauseQueue(queue)
  const now = new Date()
  await execute(
    `insert into jobs (queue, name, payload, state, run_at, error, created_at)
     select elt(1 + seq mod 4, 'default', 'builds', 'hooks', 'mail'), 'happening.told',
       concat('{"id":"k', seq, '","at":"2026-01-02T03:04:05.678Z","happening":{"kind":"user.created"}}'), if(seq mod 10, 'ready', 'dead'),
       ? - interval seq second, if(seq mod 10, null, concat('Error: no answer to ', seq)), ?
     from seq_1_to_${JOBS}`,
    [now, now]
  )
  await execute("insert into job_failures select id, run_at from jobs where state = 'dead'")
  await execute(
    `insert into queue_minutes (minute, queue, process_id, processed)
     select from_unixtime(60 * (unix_timestamp() div 60 - seq mod 60)), elt(1 + seq mod 4, 'default', 'builds', 'hooks', 'mail'),
       seq div 60, seq mod 500 from seq_1_to_2400`
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
    detail: { p99_ms: percentile(looks, 0.99), count_p50_ms: percentile(count, 0.5), jobs: JOBS }
  })
}

async function measureFrames(): Promise<void> {
  useProductionReact()
  const [{ render }, { createElement }, { Frame }, { DrawnLine }] = await Promise.all([
    import('ink'),
    import('react'),
    import('../src/cli/dashboard/frame.js'),
    import('../src/cli/dashboard/panes/line.js')
  ])
  const terminal = Object.assign(new EventEmitter(), { columns: 200, rows: 60, write: () => true })
  const screen = new Screen(terminal as unknown as NodeJS.WriteStream)
  const shown = { overview: await jobOverview(), jobs: (await listJobs({ limit: 100 })).map(viewJob) }
  const frame = (number: number) =>
    createElement(
      DrawnLine,
      { value: screen.hold },
      createElement(Frame, {
        size: screen.size,
        name: 'bench',
        state: { ...firstState(2), pane: PANES[number % PANES.length] ?? 'queues', message: `frame ${number}` },
        shown,
        detail: { found: null, lines: [] },
        away: null,
        readOnly: false,
        // With another time in each frame, every age differs.
        now: Date.now() + number * 1000,
        theme: 'color'
      })
    )
  screen.enter()
  const app = render(frame(0), { stdout: screen as unknown as NodeJS.WriteStream, debug: true, patchConsole: false })
  const draw = (number: number) => {
    const started = performance.now()
    app.rerender(frame(number))
    return performance.now() - started
  }
  const warm = Array.from({ length: WARM }, (_, number) => draw(number + 1))
  const before = process.cpuUsage()
  const times = Array.from({ length: FRAMES }, (_, number) => draw(WARM + number + 1))
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
      cpu_ms: (user + system) / 1000 / FRAMES,
      processor_s_per_1000: (user + system) / 1000 / FRAMES,
      frames: FRAMES,
      worst_of_first_30_ms: Math.max(...warm)
    }
  })
}

async function measure(_appliance: Prepared): Promise<void> {
  await seed()
  await measureStatements()
  await measureFrames()
}

await withAppliance({}, measure)
