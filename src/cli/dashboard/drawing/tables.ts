// Builds the table of each pane, filtered and sorted, with every line as plain texts. Pure functions.
import { plainText } from '../../../lib/display-width.js'
import type { Pane } from '../keymap.js'
import type { Job, JobOverview, WatchedBuild } from '../source.js'
import {
  BUILDS,
  type Cell,
  type Column,
  FAILURES,
  HOOKS,
  JOBS,
  type Line,
  MAILS,
  PROCESSES,
  QUEUES,
  type Spec
} from './columns.js'
import { sparkline } from './format.js'

export type { Cell, Column, Line, Tone } from './columns.js'

export interface Table {
  readonly columns: readonly Column[]
  readonly lines: readonly Line[]
  /** The number of lines without the filter. */
  readonly total: number
  /** The order, and notes about these lines. */
  readonly sort: string
  /** The text when there are no lines. */
  readonly empty: string
}

/** A page of jobs; the search may still be running. */
export interface JobPage {
  readonly jobs: readonly Job[]
  /** The next page begins after this id; null when there is no next page. */
  readonly next: number | null
  /** The search has reached the job with this id; null when it has ended. */
  readonly searching: number | null
}

export interface Shown {
  readonly overview: JobOverview
  /** The jobs of the job pane; null until they are read. */
  readonly jobs: JobPage | null
  /** The builds of the build pane; null until they are read, or when only running builds are needed. */
  readonly builds: readonly WatchedBuild[] | null
}

export interface View {
  readonly filter: string
  readonly sort: number
  readonly reversed: boolean
  readonly now: number
  /** The number of the page of jobs, from 1. */
  readonly page?: number
  /** All jobs were searched for this text, so the filter is already applied. */
  readonly search?: string
}

/** Returns the table of a pane, filtered and sorted. */
export function tableOf(pane: Pane, { overview, jobs, builds }: Shown, view: View): Table {
  switch (pane) {
    case 'queues':
      return build(QUEUES, overview.queues, view)
    case 'processes':
      return build(PROCESSES, overview.processes, view)
    case 'failures':
      return build(FAILURES, overview.failures, view)
    case 'builds':
      if (builds === null) return build(BUILDS, overview.builds.map(running), view)
      return { ...build(BUILDS, builds, view), ...(builds.length === 0 ? { empty: 'there are no builds' } : {}) }
    case 'jobs':
      return jobTable(jobs, view)
    case 'hooks':
      return build(HOOKS, overview.hooks, view)
    case 'mail':
      return build(MAILS, overview.mail.troubled, view)
  }
}

const running = (build: JobOverview['builds'][number]): WatchedBuild => ({
  ...build,
  status: 'running',
  created_at: build.started_at ?? new Date(0),
  finished_at: null
})

function jobTable(page: JobPage | null, view: View): Table {
  if (page === null) return { ...build(JOBS, [], view), empty: 'reading ...' }
  const { search = '', page: number = 1, filter, sort, reversed } = view
  // The source has already reversed all jobs; only the other orders are reversed here, inside the page.
  const order = sort % JOBS.sorts.length === 0
  const table = build(JOBS, page.jobs, {
    ...view,
    filter: filter === search ? '' : filter,
    reversed: reversed && !order
  })
  const notes = [
    order ? (reversed ? 'oldest' : 'newest') : `${table.sort} on this page`,
    ...(number > 1 ? [`page ${number}`] : []),
    ...(page.next === null ? [] : ['more with ]']),
    ...(page.searching === null ? [] : [`searching, at job ${page.searching}`])
  ]
  const empty = page.searching === null ? nothing(table.empty, search, number) : 'searching ...'
  return { ...table, sort: notes.join(', '), empty: page.jobs.length > 0 ? table.empty : empty }
}

function nothing(empty: string, search: string, page: number): string {
  if (page > 1) return 'no more jobs: [ goes back'
  return search === '' ? empty : 'no job contains this text'
}

function build<Row>(spec: Spec<Row>, rows: readonly Row[], { filter, sort, reversed, now }: View): Table {
  const order = spec.sorts[sort % spec.sorts.length]
  const sorted = order ? [...rows].sort(order[1]) : [...rows]
  if (reversed) sorted.reverse()
  const lines = sorted.map(row => ({ ...spec.line(row), cells: spec.columns.map(({ cell }) => plain(cell(row, now))) }))
  const wanted = filter.toLowerCase()
  const left = filter === '' ? lines : lines.filter(line => textOf(line).includes(wanted))
  const empty = filter !== '' && rows.length > 0 ? 'no line contains this text' : spec.empty
  const name = `${order?.[0] ?? ''}${reversed ? ', reversed' : ''}`
  return { columns: spec.columns, lines: left, total: rows.length, sort: name, empty }
}

const textOf = ({ cells }: { cells: readonly Cell[] }) =>
  cells
    .map(({ text }) => text)
    .join(' ')
    .toLowerCase()

/** Makes a cell safe and short. Text from users is cut here, because a payload may have megabytes. */
function plain(cell: string | Cell): Cell {
  const { text, ...rest } = typeof cell === 'string' ? { text: cell, tone: 'normal' as const } : cell
  return { ...rest, text: plainText(text.slice(0, 500)) }
}

/** Returns the text of a cell in `width` columns; a bar chart is drawn as wide as possible. */
export const drawn = ({ text, bars }: Cell, width: number): string =>
  bars ? sparkline(bars, Math.min(width, bars.length)) : text
