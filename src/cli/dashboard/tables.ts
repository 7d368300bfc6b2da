// Builds the table of each pane: its columns, its orders, and every line as plain texts. Pure functions.
import { plainText } from '../../lib/display-width.js'
import { count, duration, rate, since, sparkline } from './format.js'
import type { Pane } from './keymap.js'
import type { Job, JobOverview } from './source.js'

/** The look of a cell. Its text says the same in words. */
export type Tone = 'normal' | 'good' | 'warn' | 'bad' | 'dim'

export interface Column {
  readonly heading: string
  /** Columns of the terminal. A negative number is a share of the columns that are left over. */
  readonly width: number
  readonly right?: boolean
  /** The column is shown only in a terminal that is at least this wide. */
  readonly from?: number
}

export interface Cell {
  readonly text: string
  readonly tone: Tone
  /** Values for a bar chart, which is drawn as wide as its column. */
  readonly bars?: readonly number[]
}

export interface Line {
  readonly id: string
  readonly cells: readonly Cell[]
  /** The job or queue that a change of this line applies to. */
  readonly job?: number
  readonly queue?: string
  readonly paused?: boolean
}

export interface Table {
  readonly columns: readonly Column[]
  readonly lines: readonly Line[]
  /** How many lines there are without the filter. */
  readonly total: number
  readonly sort: string
  /** The text that is shown when there are no lines. */
  readonly empty: string
}

interface Spec<Row> {
  readonly columns: readonly (Column & { readonly cell: (row: Row, now: number) => string | Cell })[]
  readonly line: (row: Row) => Omit<Line, 'cells'>
  /** The first order is the one that the pane starts with. */
  readonly sorts: readonly (readonly [name: string, compare: (a: Row, b: Row) => number])[]
  readonly empty: string
}

type Queue = JobOverview['queues'][number]
type Process = JobOverview['processes'][number]
type Failure = JobOverview['failures'][number]
type Build = JobOverview['builds'][number]

const toned = (text: string, tone: Tone): Cell => ({ text, tone })
const time = (value: Date | string | null) => (value === null ? 0 : new Date(value).getTime())
const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const notZero = (value: number, tone: Tone) => toned(count(value), value > 0 ? tone : 'normal')

const QUEUES: Spec<Queue> = {
  columns: [
    { heading: 'QUEUE', width: 11, cell: ({ name }) => name },
    {
      heading: 'STATE',
      width: 6,
      cell: ({ paused }) => (paused ? toned('paused', 'warn') : toned('active', 'good'))
    },
    { heading: 'READY', width: 5, right: true, cell: ({ ready }) => count(ready) },
    { heading: 'DELAY', width: 5, right: true, cell: ({ delayed }) => count(delayed) },
    { heading: 'RUN', width: 5, right: true, cell: ({ running }) => count(running) },
    { heading: 'DEAD', width: 5, right: true, cell: ({ dead }) => notZero(dead, 'bad') },
    {
      heading: 'WAIT',
      width: 6,
      right: true,
      cell: ({ latency }) => toned(duration(latency), latency >= 60 ? 'warn' : 'normal')
    },
    { heading: 'DONE/M', width: 6, right: true, cell: queue => rate(queue.processed_per_minute) },
    {
      heading: 'FAIL/M',
      width: 6,
      right: true,
      cell: queue => toned(rate(queue.failed_per_minute), queue.failed_per_minute > 0 ? 'bad' : 'normal')
    },
    {
      heading: 'LAST HOUR',
      width: -1,
      cell: ({ minutes }) => ({ text: '', tone: 'good', bars: minutes.map(({ processed }) => processed) })
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

const PROCESSES: Spec<Process> = {
  columns: [
    { heading: 'HOST', width: -2, cell: ({ hostname }) => hostname },
    { heading: 'PID', width: 8, right: true, cell: ({ pid }) => String(pid) },
    {
      heading: 'BUSY',
      width: 8,
      right: true,
      cell: ({ busy, concurrency }) => toned(`${busy} of ${concurrency}`, busy >= concurrency ? 'warn' : 'normal')
    },
    { heading: 'FOR', width: 6, right: true, cell: ({ started_at }, now) => since(started_at, now) },
    { heading: 'TAG', width: 12, from: 120, cell: ({ tag }) => tag },
    { heading: 'LABELS', width: -1, from: 140, cell: ({ labels }) => labels.join(' ') },
    { heading: 'QUEUES', width: -3, cell: ({ queues }) => queues.join(' ') }
  ],
  line: ({ hostname, pid }) => ({ id: `${hostname}:${pid}` }),
  sorts: [
    ['oldest', (a, b) => time(a.started_at) - time(b.started_at)],
    ['busy', (a, b) => b.busy - a.busy],
    ['host', (a, b) => byText(a.hostname, b.hostname)]
  ],
  empty: 'no worker runs: jobs wait'
}

const stateOf = (state: string): Cell => {
  const tones: Record<string, Tone> = { dead: 'bad', delayed: 'warn', running: 'good' }
  return toned(state, tones[state] ?? 'normal')
}

const FAILURES: Spec<Failure> = {
  columns: [
    { heading: 'ID', width: 8, right: true, cell: ({ id }) => String(id) },
    { heading: 'STATE', width: 7, cell: ({ state }) => stateOf(state) },
    { heading: 'QUEUE', width: 11, from: 100, cell: ({ queue }) => queue },
    { heading: 'NAME', width: 19, cell: ({ name }) => name },
    { heading: 'TRIES', width: 5, right: true, cell: ({ attempts }) => String(attempts) },
    { heading: 'FAILED', width: 6, right: true, cell: ({ failed_at }, now) => since(failed_at, now) },
    { heading: 'ERROR', width: -3, cell: ({ error }) => firstLine(error) },
    { heading: 'PAYLOAD', width: -2, from: 120, cell: ({ payload }) => payloadText(payload) }
  ],
  line: ({ id, queue }) => ({ id: String(id), job: id, queue }),
  sorts: [
    ['newest', () => 0],
    ['state', (a, b) => byText(a.state, b.state)],
    ['name', (a, b) => byText(a.name, b.name)],
    ['tries', (a, b) => b.attempts - a.attempts]
  ],
  empty: 'no job has failed'
}

const BUILDS: Spec<Build> = {
  columns: [
    { heading: 'ID', width: 8, right: true, cell: ({ id }) => String(id) },
    { heading: 'PROJECT', width: -3, cell: ({ project }) => project },
    { heading: 'BUILD', width: -2, cell: ({ name }) => name },
    { heading: 'STAGE', width: 12, from: 120, cell: ({ stage }) => stage },
    { heading: 'REF', width: -2, cell: ({ ref }) => ref },
    { heading: 'FOR', width: 6, right: true, cell: ({ started_at }, now) => since(started_at, now) },
    {
      heading: 'WORKER',
      width: -2,
      cell: ({ hostname, pid }) => (hostname === null ? toned('gone', 'bad') : `${hostname}:${pid}`)
    }
  ],
  line: ({ id }) => ({ id: String(id) }),
  sorts: [
    ['newest', (a, b) => time(b.started_at) - time(a.started_at)],
    ['longest', (a, b) => time(a.started_at) - time(b.started_at)],
    ['project', (a, b) => byText(a.project, b.project)]
  ],
  empty: 'no build is running'
}

const JOBS: Spec<Job> = {
  columns: [
    { heading: 'ID', width: 8, right: true, cell: ({ id }) => String(id) },
    { heading: 'QUEUE', width: 11, cell: ({ queue }) => queue },
    { heading: 'NAME', width: 19, cell: ({ name }) => name },
    { heading: 'STATE', width: 7, cell: ({ state }) => stateOf(state) },
    { heading: 'TRIES', width: 5, right: true, cell: ({ attempts }) => String(attempts) },
    { heading: 'DUE', width: 8, right: true, cell: ({ run_at }, now) => since(run_at, now) },
    { heading: 'PAYLOAD', width: -1, cell: ({ payload }) => payloadText(payload) }
  ],
  line: ({ id, queue }) => ({ id: String(id), job: id, queue }),
  sorts: [
    ['newest', (a, b) => b.id - a.id],
    ['due', (a, b) => time(a.run_at) - time(b.run_at)],
    ['state', (a, b) => byText(a.state, b.state)],
    ['name', (a, b) => byText(a.name, b.name)]
  ],
  empty: 'no jobs'
}

const firstLine = (text: string) => text.trimStart().split('\n', 1)[0] ?? ''
const payloadText = (payload: unknown) => (payload === null ? '(long: open the job)' : JSON.stringify(payload))

export interface Shown {
  readonly overview: JobOverview
  /** The jobs for their pane; null until they are read. */
  readonly jobs: readonly Job[] | null
}

export interface View {
  readonly filter: string
  readonly sort: number
  readonly now: number
}

/** The table of a pane, filtered and sorted. */
export function tableOf(pane: Pane, { overview, jobs: found }: Shown, view: View): Table {
  switch (pane) {
    case 'queues':
      return build(QUEUES, overview.queues, view)
    case 'processes':
      return build(PROCESSES, overview.processes, view)
    case 'failures':
      return build(FAILURES, overview.failures, view)
    case 'builds':
      return build(BUILDS, overview.builds, view)
    case 'jobs':
      return found === null ? { ...build(JOBS, [], view), empty: 'reading ...' } : build(JOBS, found, view)
  }
}

function build<Row>(spec: Spec<Row>, rows: readonly Row[], { filter, sort, now }: View): Table {
  const order = spec.sorts[sort % spec.sorts.length]
  const sorted = order ? [...rows].sort(order[1]) : rows
  const lines = sorted.map(row => ({ ...spec.line(row), cells: spec.columns.map(({ cell }) => plain(cell(row, now))) }))
  const wanted = filter.toLowerCase()
  const left = filter === '' ? lines : lines.filter(line => textOf(line).includes(wanted))
  const empty = filter !== '' && rows.length > 0 ? 'no line contains this text' : spec.empty
  return { columns: spec.columns, lines: left, total: rows.length, sort: order?.[0] ?? '', empty }
}

const textOf = ({ cells }: { cells: readonly Cell[] }) =>
  cells
    .map(({ text }) => text)
    .join(' ')
    .toLowerCase()

/** Makes a cell safe and short. A text of a user is cut here: a payload may have megabytes, but a line is short. */
function plain(cell: string | Cell): Cell {
  const { text, ...rest } = typeof cell === 'string' ? toned(cell, 'normal') : cell
  return { ...rest, text: plainText(text.slice(0, 500)) }
}

/** The text of a cell in `width` columns; a bar chart is drawn as wide as possible. */
export const drawn = ({ text, bars }: Cell, width: number): string =>
  bars ? sparkline(bars, Math.min(width, bars.length)) : text
