// Decides which panes fit on a screen, and how wide their columns are. Pure functions.
import { PANES, type Pane } from './keymap.js'
import type { Column } from './tables.js'

export interface Size {
  readonly columns: number
  readonly rows: number
}

export interface Block {
  readonly pane: Pane
  /** How many lines the pane has below its title and its headings. */
  readonly body: number
}

/** How many lines stand above the panes, and below them (the status line). */
export const HEADER = 3
export const STATUS = 1
/** Lines of a pane beside its body: its title, its headings, and an empty line after it. */
const AROUND = 3
/** A terminal with at least this many lines shows other panes together with the active one. */
const TALL = 36
/** The active pane gets at least this many lines before other panes get any. */
const LEAST = 12
/** A pane gets at most this many lines, except the pane that takes all lines that are left. */
const MOST: { readonly [Name in Pane]: number } = { queues: 8, processes: 8, failures: 12, builds: 10, jobs: 12 }

export const SMALLEST: Size = { columns: 40, rows: 10 }
export const isTooSmall = ({ columns, rows }: Size) => columns < SMALLEST.columns || rows < SMALLEST.rows

/** The panes from top to bottom: the active pane, and in a tall terminal those that fit together with it. */
export function blocksOf({ rows }: Size, active: Pane, counts: { readonly [Name in Pane]: number }): Block[] {
  const height = rows - HEADER - STATUS
  // There are only a few queues, so the failures get the lines that the queues do not need.
  const grows = active === 'queues' ? 'failures' : active
  if (rows < TALL) return short(height, active, counts.queues)
  const needs = (pane: Pane) => AROUND + Math.min(MOST[pane], Math.max(1, counts[pane]))
  const others: Pane[] = []
  let left = height - AROUND
  for (const pane of PANES) {
    if (pane === grows || (pane === 'jobs' && active !== 'jobs') || left - needs(pane) < LEAST) continue
    others.push(pane)
    left -= needs(pane)
  }
  return PANES.filter(pane => pane === grows || others.includes(pane)).map(pane => ({
    pane,
    body: pane === grows ? left : needs(pane) - AROUND
  }))
}

function short(height: number, active: Pane, queues: number): Block[] {
  const below = height - AROUND - queues
  if (active !== 'queues' || below < 5) return [{ pane: active, body: height - AROUND + 1 }]
  return [
    { pane: 'queues', body: queues },
    { pane: 'failures', body: below - AROUND + 1 }
  ]
}

/** Which columns of a table fit into `width` columns of the terminal, how wide each is, and how wide the gaps are. */
export function widthsOf(
  columns: readonly Column[],
  width: number
): { shown: number[]; widths: number[]; gap: number } {
  const gap = width >= 100 ? 2 : 1
  let shown = columns.map((_column, at) => at).filter(at => (columns[at]?.from ?? 0) <= width)
  const widthAt = (at: number) => columns[at]?.width ?? 0
  const fixed = (at: number) => (widthAt(at) > 0 ? widthAt(at) : 4)
  const needed = () => shown.reduce((sum, at) => sum + fixed(at) + gap, -gap)
  while (shown.length > 1 && needed() > width) shown = shown.slice(0, -1)
  const shares = shown.reduce((sum, at) => sum + Math.max(0, -widthAt(at)), 0)
  const spare = width - shown.reduce((sum, at) => sum + Math.max(0, widthAt(at)) + gap, -gap)
  const widths = shown.map(at => (widthAt(at) > 0 ? widthAt(at) : Math.floor((spare * -widthAt(at)) / shares)))
  return { shown, widths, gap }
}

/** The first line to show, so that the chosen one of `total` lines is among the `body` lines on the screen. */
export function firstShown(chosen: number, body: number, total: number): number {
  return Math.max(0, Math.min(chosen - Math.floor(body / 2), total - body))
}
