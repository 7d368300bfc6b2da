// Makes records of the dashboard for tests.

import type { FrameProps } from '../../../src/cli/dashboard/drawing/frame.js'
import type { JobPage } from '../../../src/cli/dashboard/drawing/tables.js'
import type { State } from '../../../src/cli/dashboard/model.js'
import type { Job, JobOverview, WatchedBuild } from '../../../src/cli/dashboard/source.js'
import { firstState } from '../../../src/cli/dashboard/state.js'

export const NOW = Date.parse('2026-11-21T12:00:00Z')
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString()

const QUEUES = ['default', 'builds', 'hooks', 'mail', 'maintenance']

type Failure = JobOverview['failures'][number]

export const failure = (id: number, values: Partial<Failure> = {}): Failure => ({
  id,
  queue: 'hooks',
  name: 'hook.deliver',
  state: 'dead',
  attempts: 12,
  run_at: ago(-30),
  failed_at: ago(id),
  error: 'Error: no answer\n    at somewhere',
  payload: { deliveryId: id },
  ...values
})

export const job = (id: number, values: Partial<Job> = {}): Job => ({
  id,
  queue: 'default',
  name: 'event.published',
  state: 'ready',
  payload: { key: `k${id}` },
  attempts: 0,
  crashes: 0,
  process_id: null,
  run_at: ago(5),
  started_at: null,
  error: null,
  created_at: ago(5),
  ...values
})

export const build = (id: number, values: Partial<WatchedBuild> = {}): WatchedBuild => ({
  id,
  project_id: 3,
  project: 'ada/engine',
  name: 'rspec',
  stage: 'test',
  ref: 'master',
  status: 'running',
  created_at: ago(80),
  started_at: ago(75),
  finished_at: null,
  hostname: null,
  pid: null,
  runner: null,
  ...values
})

type Hook = JobOverview['hooks'][number]

export const hook = (id: number, values: Partial<Hook> = {}): Hook => ({
  id,
  receiver: 'https://receiver.example.org/in',
  project: null,
  failures: 3,
  since: ago(60),
  next_try_at: ago(-30),
  pending: 2,
  dead: 0,
  event: 'push',
  status: null,
  error: 'connection refused',
  ...values
})

type TroubledMail = JobOverview['mail']['troubled'][number]

export const troubledMail = (id: number, values: Partial<TroubledMail> = {}): TroubledMail => ({
  id,
  kind: 'merge-request',
  address: 'ada@example.org',
  state: 'waiting',
  attempts: 2,
  created_at: ago(200),
  tried_at: ago(60),
  error: 'the server refused the connection',
  ...values
})

export const shownJobs = (jobs: readonly Job[], values: Partial<JobPage> = {}): JobPage => ({
  jobs,
  next: null,
  searching: null,
  ...values
})

export const overview = (values: Partial<JobOverview> = {}): JobOverview => ({
  at: new Date(NOW).toISOString(),
  queues: QUEUES.map((name, at) => ({
    name,
    paused: name === 'mail',
    ready: at * 100,
    delayed: at,
    running: 1,
    dead: at,
    latency: at * 61,
    processed_per_minute: at * 7.5,
    failed_per_minute: 0,
    minutes: Array.from({ length: 60 }, (_, minute) => ({
      minute: ago((59 - minute) * 60),
      processed: at * minute,
      failed: 0
    }))
  })),
  processes: [
    {
      hostname: 'worker-1',
      pid: 4711,
      tag: 'gitstead',
      started_at: ago(90_000),
      queues: QUEUES,
      labels: [],
      concurrency: 8,
      busy: 3
    }
  ],
  failures: [failure(1), failure(2, { state: 'delayed', name: 'hook.deliver', queue: 'default' })],
  builds: [
    {
      id: 7,
      project_id: 3,
      project: 'ada/engine',
      name: 'rspec',
      stage: 'test',
      ref: 'master',
      started_at: ago(75),
      hostname: 'worker-1',
      pid: 4711,
      runner: null
    }
  ],
  hooks: [],
  mail: { waiting: 0, held: 0, failed: 0, bounced: 0, troubled: [] },
  totals: { processed: 1_234_567, failed: 12, ready: 1000, delayed: 10, running: 5, dead: 10 },
  ...values
})

/** A long text from a user: escape sequences, text in both directions, characters of two columns or zero columns. */
export const NASTY =
  '\u001b[2J\u001b]0;title\u0007\r\n\t\u202edrow\u2028 漢字の名前 e\u0301 👩‍👩‍👧 ❤️ 🇩🇪 \ud800 '.repeat(20)

export const nasty = (): JobOverview =>
  overview({
    failures: Array.from({ length: 50 }, (_, at) =>
      failure(at, { name: NASTY, error: NASTY, payload: { [NASTY]: NASTY }, attempts: 99_999 })
    ),
    builds: Array.from({ length: 40 }, (_, at) => ({
      ...(overview().builds[0] as JobOverview['builds'][number]),
      id: 4_000_000_000 + at,
      project: NASTY,
      name: NASTY,
      ref: NASTY,
      hostname: at % 2 ? NASTY : null,
      runner: at % 3 ? null : NASTY
    })),
    processes: Array.from({ length: 30 }, (_, at) => ({
      ...(overview().processes[0] as JobOverview['processes'][number]),
      hostname: `${NASTY}${at}`,
      tag: NASTY,
      labels: [NASTY],
      pid: 4_194_304
    })),
    hooks: Array.from({ length: 20 }, (_, at) => hook(at, { receiver: NASTY, project: NASTY, error: NASTY })),
    mail: {
      waiting: 4_000_000_000,
      held: 1,
      failed: 20,
      bounced: 3,
      troubled: Array.from({ length: 20 }, (_, at) =>
        troubledMail(4_000_000_000 + at, { kind: NASTY, address: NASTY, error: NASTY, attempts: 99_999 })
      )
    }
  })

export const state = (values: Partial<State> = {}): State => ({ ...firstState(2), ...values })

export const frameProps = (values: Partial<FrameProps> = {}): FrameProps => ({
  size: { columns: 80, rows: 24 },
  name: 'vm:/var/lib/gitstead',
  state: state(),
  shown: { overview: overview(), jobs: null, builds: null },
  detail: { found: null, lines: [] },
  away: null,
  readOnly: false,
  now: NOW,
  theme: 'plain',
  ...values
})
