// Decides which panes fit on a screen, and how wide their columns are. Pure functions.
import { PANES, type Pane } from '../keymap.js'
import type { Column } from './tables.js'

export interface Size {
  readonly columns: number
  readonly rows: number
}

export interface Block {
  readonly pane: Pane
  /** The number of lines below the title and the headings of the pane. */
  readonly body: number
}

/** The number of lines above the panes, and below them (the status line). */
export const HEADER = 3
export const STATUS = 1
/** Lines of a pane in addition to its body: its title, its headings, and an empty line after it. */
const AROUND = 3
/** A terminal with at least this many lines shows other panes in addition to the active one. */
const TALL = 36
/** Every pane first gets at most this many lines. The rest goes to the active pane, and then to the others in this order. */
const FIRST = 5
const ORDER: readonly Pane[] = ['queues', 'failures', 'builds', 'hooks', 'mail', 'processes', 'jobs']

const SMALLEST: Size = { columns: 40, rows: 10 }
export const isTooSmall = ({ columns, rows }: Size) => columns < SMALLEST.columns || rows < SMALLEST.rows

/** Whether the pane is visible, so that its records are needed. */
export const isShown = (pane: Pane, { rows }: Size, active: Pane) => pane === active || rows >= TALL

/**
 * Returns the panes from top to bottom: the active pane, and in a tall terminal the other panes that fit. They use every line
 * of the screen if there is enough to show.
 */
export function blocksOf({ rows }: Size, active: Pane, counts: { readonly [Name in Pane]: number }): Block[] {
  const height = rows - HEADER - STATUS
  if (rows < TALL) return short(height, active, counts.queues)
  const order = [active, ...ORDER.filter(pane => pane !== active)]
  const bodies = new Map<Pane, number>()
  // The last pane needs no empty line after it.
  let left = height + 1
  const need = (pane: Pane) => Math.max(1, counts[pane])
  for (const pane of order) {
    const body = Math.min(need(pane), FIRST)
    if (left < AROUND + body) continue
    bodies.set(pane, body)
    left -= AROUND + body
  }
  for (const pane of order) {
    const more = Math.min(left, need(pane) - (bodies.get(pane) ?? need(pane)))
    bodies.set(pane, (bodies.get(pane) ?? 0) + more)
    left -= more
  }
  return PANES.flatMap(pane => {
    const body = bodies.get(pane) ?? 0
    return body > 0 ? [{ pane, body }] : []
  })
}

function short(height: number, active: Pane, queues: number): Block[] {
  const below = height - AROUND - queues
  if (active !== 'queues' || below < 5) return [{ pane: active, body: height - AROUND + 1 }]
  return [
    { pane: 'queues', body: queues },
    { pane: 'failures', body: below - AROUND + 1 }
  ]
}

export interface Fitted {
  /** The indices of the visible columns. */
  readonly shown: readonly number[]
  readonly widths: readonly number[]
  readonly gap: number
  /** The headings of the omitted columns. */
  readonly hidden: readonly string[]
}

/**
 * Returns which columns of a table fit into `width` columns of the terminal, and how wide each is. `needs` are the widths of
 * their longest texts. When not all fit, the least important ones are omitted: a heading is never cut.
 */
export function widthsOf(columns: readonly Column[], needs: readonly number[], width: number): Fitted {
  const gap = width >= 100 ? 2 : 1
  const all = columns.map((column, at) => ({ column, at, need: Math.max(column.heading.length, needs[at] ?? 0) }))
  let fitting = all
  let tight = false
  while (fitting.length > 1 && leastOf(fitting, gap, tight) > width) {
    const victim = fitting.reduce((last, each) => ((each.column.drop ?? 0) > (last.column.drop ?? 0) ? each : last))
    if (victim.column.drop !== undefined) fitting = fitting.filter(each => each !== victim)
    // In a terminal with fewer than 80 columns, the rest shrinks to the headings, and then the last columns are omitted.
    else if (tight) fitting = fitting.slice(0, -1)
    else tight = true
  }
  const spare = width - leastOf(fitting, gap, tight)
  return {
    shown: fitting.map(({ at }) => at),
    widths: shared(fitting, spare, tight),
    gap,
    hidden: all.filter(each => !fitting.includes(each)).map(({ column }) => column.heading)
  }
}

interface Sized {
  readonly column: Column
  readonly need: number
}

/** Returns the fixed width of a column, or its minimum width. Numbers are never cut. */
function least({ column, need }: Sized, tight: boolean): number {
  if (column.width > 0) return column.right ? Math.max(column.width, need) : column.width
  return Math.max(column.heading.length, tight ? 0 : Math.min(column.least ?? 0, need))
}

const leastOf = (columns: readonly Sized[], gap: number, tight: boolean) =>
  columns.reduce((sum, column) => sum + least(column, tight) + gap, -gap)

/** Shares the remaining width by the weights of the columns, but no column gets more than it needs. */
function shared(columns: readonly Sized[], spare: number, tight: boolean): number[] {
  const widths = columns.map(column => least(column, tight))
  let left = Math.max(0, spare)
  for (;;) {
    const hungry = columns.flatMap(({ column, need }, at) =>
      column.width < 0 && need > (widths[at] ?? 0) ? [{ at, need, weight: -column.width }] : []
    )
    const weights = hungry.reduce((sum, { weight }) => sum + weight, 0)
    if (hungry.length === 0 || left === 0) return widths
    const before = left
    for (const { at, need, weight } of hungry) {
      const share = Math.max(1, Math.floor((before * weight) / weights))
      const more = Math.min(left, share, need - (widths[at] ?? 0))
      widths[at] = (widths[at] ?? 0) + more
      left -= more
    }
  }
}

/** Returns the first line to show, so that the selected line of `total` lines is among the `body` visible lines. */
export function firstShown(chosen: number, body: number, total: number): number {
  return Math.max(0, Math.min(chosen - Math.floor(body / 2), total - body))
}
