// The columns and the sort orders of each pane.

import type { Job, JobOverview, WatchedBuild } from '../source.js'
import { count, duration, rate, since } from './format.js'

/** The style of a cell. Its text says the same in words. */
export type Tone = 'normal' | 'good' | 'warn' | 'bad' | 'dim'

export interface Column {
  readonly heading: string
  /** Width in terminal columns. A negative number is a share of the remaining columns. */
  readonly width: number
  readonly right?: boolean
  /** In a narrow terminal, columns with the highest number are omitted first. A column without a number is never omitted. */
  readonly drop?: number
  /** A column with a share of the remaining width is omitted when it would be narrower than this. */
  readonly least?: number
}

export interface Cell {
  readonly text: string
  readonly tone: Tone
  /** Values of a bar chart, which is drawn as wide as its column. */
  readonly bars?: readonly number[]
}

export interface Line {
  readonly id: string
  readonly cells: readonly Cell[]
  /** The kind of record that enter opens. Jobs and builds can be marked. */
  readonly opens?: 'job' | 'build' | 'hook'
  readonly queue?: string
  readonly paused?: boolean
}

export interface Spec<Row> {
  readonly columns: readonly (Column & { readonly cell: (row: Row, now: number) => string | Cell })[]
  readonly line: (row: Row) => Omit<Line, 'cells'>
  /** The first order is the default. */
  readonly sorts: readonly (readonly [name: string, compare: (a: Row, b: Row) => number])[]
  readonly empty: string
}

type Queue = JobOverview['queues'][number]
type Process = JobOverview['processes'][number]
type Failure = JobOverview['failures'][number]
type Hook = JobOverview['hooks'][number]
type Mail = JobOverview['mail']['troubled'][number]

const toned = (text: string, tone: Tone): Cell => ({ text, tone })
const time = (value: Date | string | null) => (value === null ? 0 : new Date(value).getTime())
const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const notZero = (value: number, tone: Tone) => toned(count(value), value > 0 ? tone : 'normal')
const bars = (values: readonly number[], tone: Tone): Cell => ({ text: '', tone, bars: values })

export const QUEUES: Spec<Queue> = {
  columns: [
    { heading: 'QUEUE', width: 11, cell: ({ name }) => name },
    {
      heading: 'STATE',
      width: 6,
      cell: ({ paused }) => (paused ? toned('paused', 'warn') : toned('active', 'good'))
    },
    { heading: 'READY', width: 5, right: true, cell: ({ ready }) => count(ready) },
    { heading: 'DELAY', width: 5, right: true, drop: 3, cell: ({ delayed }) => count(delayed) },
    { heading: 'RUN', width: 5, right: true, cell: ({ running }) => count(running) },
    { heading: 'DEAD', width: 5, right: true, cell: ({ dead }) => notZero(dead, 'bad') },
    {
      heading: 'WAIT',
      width: 6,
      right: true,
      drop: 2,
      cell: ({ latency }) => toned(duration(latency), latency >= 60 ? 'warn' : 'normal')
    },
    { heading: 'DONE/M', width: 6, right: true, drop: 4, cell: queue => rate(queue.processed_per_minute) },
    {
      heading: 'FAIL/M',
      width: 6,
      right: true,
      drop: 5,
      cell: queue => toned(rate(queue.failed_per_minute), queue.failed_per_minute > 0 ? 'bad' : 'normal')
    },
    {
      heading: 'LAST HOUR',
      width: -1,
      least: 10,
      drop: 6,
      cell: ({ minutes }) =>
        bars(
          minutes.map(({ processed }) => processed),
          'good'
        )
    },
    {
      heading: 'FAILED IN THE LAST HOUR',
      width: -1,
      least: 30,
      drop: 7,
      cell: ({ minutes }) =>
        bars(
          minutes.map(({ failed }) => failed),
          'bad'
        )
    }
  ],
  line: ({ name, paused }) => ({ id: name, queue: name, paused }),
  sorts: [
    ['as configured', () => 0],
    ['backlog', (a, b) => b.ready - a.ready],
    ['wait', (a, b) => b.latency - a.latency],
    ['dead', (a, b) => b.dead - a.dead],
    ['rate', (a, b) => b.processed_per_minute - a.processed_per_minute]
  ],
  empty: 'no queues'
}

export const PROCESSES: Spec<Process> = {
  columns: [
    { heading: 'HOST', width: -2, least: 12, cell: ({ hostname }) => hostname },
    { heading: 'PID', width: 8, right: true, cell: ({ pid }) => String(pid) },
    {
      heading: 'BUSY',
      width: 8,
      right: true,
      cell: ({ busy, concurrency }) => toned(`${busy} of ${concurrency}`, busy >= concurrency ? 'warn' : 'normal')
    },
    { heading: 'FOR', width: 6, right: true, cell: ({ started_at }, now) => since(started_at, now) },
    { heading: 'TAG', width: 12, drop: 2, cell: ({ tag }) => tag },
    { heading: 'LABELS', width: -1, least: 12, drop: 3, cell: ({ labels }) => labels.join(' ') },
    { heading: 'QUEUES', width: -3, least: 36, drop: 1, cell: ({ queues }) => queues.join(' ') }
  ],
  line: ({ hostname, pid }) => ({ id: `${hostname}:${pid}` }),
  sorts: [
    ['oldest', (a, b) => time(a.started_at) - time(b.started_at)],
    ['busy', (a, b) => b.busy - a.busy],
    ['host', (a, b) => byText(a.hostname, b.hostname)]
  ],
  empty: 'no worker runs: jobs wait'
}

const TONES: { readonly [state: string]: Tone } = {
  dead: 'bad',
  delayed: 'warn',
  failed: 'bad',
  running: 'good',
  success: 'good',
  canceled: 'dim',
  skipped: 'dim'
}
const stateOf = (state: string): Cell => toned(state, TONES[state] ?? 'normal')

export const FAILURES: Spec<Failure> = {
  columns: [
    { heading: 'ID', width: 8, right: true, cell: ({ id }) => String(id) },
    { heading: 'STATE', width: 7, cell: ({ state }) => stateOf(state) },
    { heading: 'QUEUE', width: 11, drop: 3, cell: ({ queue }) => queue },
    { heading: 'NAME', width: 19, cell: ({ name }) => name },
    { heading: 'TRIES', width: 5, right: true, drop: 2, cell: ({ attempts }) => String(attempts) },
    { heading: 'FAILED', width: 6, right: true, drop: 1, cell: ({ failed_at }, now) => since(failed_at, now) },
    { heading: 'ERROR', width: -3, least: 20, cell: ({ error }) => firstLine(error) },
    { heading: 'PAYLOAD', width: -2, least: 20, drop: 4, cell: ({ payload }) => payloadText(payload) }
  ],
  line: ({ id, queue }) => ({ id: String(id), opens: 'job', queue }),
  sorts: [
    ['newest', () => 0],
    ['state', (a, b) => byText(a.state, b.state)],
    ['name', (a, b) => byText(a.name, b.name)],
    ['tries', (a, b) => b.attempts - a.attempts]
  ],
  empty: 'no job has failed'
}

const lasted = ({ started_at, finished_at }: WatchedBuild, now: number) =>
  started_at === null ? '-' : since(started_at, finished_at === null ? now : time(finished_at))

export const BUILDS: Spec<WatchedBuild> = {
  columns: [
    { heading: 'ID', width: 8, right: true, cell: ({ id }) => String(id) },
    { heading: 'STATUS', width: 8, cell: ({ status }) => stateOf(status) },
    { heading: 'PROJECT', width: -3, least: 16, cell: ({ project }) => project },
    { heading: 'BUILD', width: -2, least: 14, cell: ({ name }) => name },
    { heading: 'STAGE', width: 12, drop: 4, cell: ({ stage }) => stage },
    { heading: 'REF', width: -2, least: 12, drop: 2, cell: ({ ref }) => ref },
    { heading: 'FOR', width: 6, right: true, cell: lasted },
    { heading: 'MADE', width: 8, right: true, drop: 3, cell: ({ created_at }, now) => since(created_at, now) },
    {
      heading: 'WORKER',
      width: -2,
      least: 12,
      drop: 1,
      cell: ({ status, hostname, pid, runner }) => {
        if (runner !== null) return runner
        if (hostname !== null) return `${hostname}:${pid}`
        return status === 'running' ? toned('gone', 'bad') : '-'
      }
    }
  ],
  line: ({ id }) => ({ id: String(id), opens: 'build' }),
  sorts: [
    ['newest', (a, b) => b.id - a.id],
    ['status', (a, b) => byText(a.status, b.status)],
    ['longest', (a, b) => time(a.started_at) - time(b.started_at)],
    ['project', (a, b) => byText(a.project, b.project)]
  ],
  empty: 'no build is running'
}

export const JOBS: Spec<Job> = {
  columns: [
    { heading: 'ID', width: 8, right: true, cell: ({ id }) => String(id) },
    { heading: 'QUEUE', width: 11, drop: 3, cell: ({ queue }) => queue },
    { heading: 'NAME', width: 19, cell: ({ name }) => name },
    { heading: 'STATE', width: 7, cell: ({ state }) => stateOf(state) },
    { heading: 'TRIES', width: 5, right: true, drop: 2, cell: ({ attempts }) => String(attempts) },
    { heading: 'DUE', width: 8, right: true, drop: 1, cell: ({ run_at }, now) => since(run_at, now) },
    { heading: 'PAYLOAD', width: -2, least: 24, cell: ({ payload }) => payloadText(payload) },
    { heading: 'ERROR', width: -1, least: 24, drop: 4, cell: ({ error }) => firstLine(error ?? '') }
  ],
  line: ({ id, queue }) => ({ id: String(id), opens: 'job', queue }),
  // The source returns the jobs in the first order, from its beginning or its end. The other orders sort one page.
  sorts: [
    ['newest', () => 0],
    ['due', (a, b) => time(a.run_at) - time(b.run_at)],
    ['state', (a, b) => byText(a.state, b.state)],
    ['name', (a, b) => byText(a.name, b.name)]
  ],
  empty: 'no jobs'
}

export const HOOKS: Spec<Hook> = {
  columns: [
    { heading: 'ID', width: 6, right: true, cell: ({ id }) => String(id) },
    { heading: 'RECEIVER', width: -3, least: 24, cell: ({ receiver }) => receiver.replace(/^https:\/\//, '') },
    { heading: 'PROJECT', width: -2, least: 12, drop: 4, cell: ({ project }) => project ?? '(system)' },
    { heading: 'FAILS', width: 5, right: true, cell: ({ failures }) => notZero(failures, 'bad') },
    { heading: 'SINCE', width: 6, right: true, cell: (hook, now) => since(hook.since, now) },
    { heading: 'NEXT TRY', width: 9, right: true, cell: (hook, now) => since(hook.next_try_at, now) },
    { heading: 'WAIT', width: 5, right: true, drop: 2, cell: ({ pending }) => count(pending) },
    { heading: 'DEAD', width: 5, right: true, drop: 3, cell: ({ dead }) => notZero(dead, 'bad') },
    { heading: 'ERROR', width: -3, least: 12, drop: 1, cell: hook => hook.error ?? String(hook.status ?? '-') }
  ],
  line: ({ id }) => ({ id: String(id), opens: 'hook' }),
  sorts: [
    ['failures', (a, b) => b.failures - a.failures],
    ['since', (a, b) => time(a.since) - time(b.since)],
    ['next try', (a, b) => time(a.next_try_at) - time(b.next_try_at)]
  ],
  empty: 'no hook fails'
}

export const MAILS: Spec<Mail> = {
  columns: [
    { heading: 'ID', width: 8, right: true, cell: ({ id }) => String(id) },
    { heading: 'STATE', width: 7, cell: ({ state }) => stateOf(state) },
    { heading: 'KIND', width: 14, drop: 3, cell: ({ kind }) => kind },
    { heading: 'TO', width: -2, least: 20, cell: ({ address }) => address },
    { heading: 'TRIES', width: 5, right: true, drop: 2, cell: ({ attempts }) => String(attempts) },
    { heading: 'TRIED', width: 6, right: true, drop: 1, cell: ({ tried_at }, now) => since(tried_at, now) },
    { heading: 'ERROR', width: -3, least: 20, cell: ({ error }) => firstLine(error ?? '-') }
  ],
  line: ({ id }) => ({ id: String(id) }),
  sorts: [
    ['newest', (a, b) => b.id - a.id],
    ['tries', (a, b) => b.attempts - a.attempts],
    ['address', (a, b) => byText(a.address, b.address)]
  ],
  empty: 'no mail waits or has failed'
}

const firstLine = (text: string) => text.trimStart().split('\n', 1)[0] ?? ''
const payloadText = (payload: unknown) => (payload === null ? '(long: open the job)' : JSON.stringify(payload))
