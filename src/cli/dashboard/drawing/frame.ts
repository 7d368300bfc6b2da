// Draws a whole frame, with exactly as many lines as the terminal has. It depends only on its props.
import type { Pane } from '../keymap.js'
import type { State } from '../model.js'
import { chosen } from '../moves.js'
import { type Found, openedLines } from '../panes/detail.js'
import { helpLines } from '../panes/help.js'
import { statusLine, TITLES, tabsLine, titleLine, totalsLine } from '../panes/lines.js'
import { listLines } from '../panes/list.js'
import { type Block, blocksOf, HEADER, isTooSmall, type Size, STATUS } from './layout.js'
import { cutLine, type Theme } from './style.js'
import { type Shown, type Table, tableOf } from './tables.js'

export interface FrameProps {
  readonly size: Size
  readonly name: string
  readonly state: State
  readonly shown: Shown
  readonly detail: { readonly found: Found; readonly lines: readonly string[] }
  readonly away: string | null
  readonly readOnly: boolean
  readonly now: number
  readonly theme: Theme
}

/** Returns how many lines are left below the header for one pane, one record or the list of keys. */
export const bodyOf = ({ rows }: Size) => rows - HEADER - STATUS - 1

export function frameLines(props: FrameProps): string[] {
  const { size, name, state, shown, away, readOnly, theme } = props
  const { columns: width, rows } = size
  if (isTooSmall(size)) return [cutLine('the terminal is too small', { width, theme })]
  const middle = middleLines(props)
  const height = rows - HEADER - STATUS
  return [
    titleLine({ name, at: shown.overview.at, width, theme, readOnly, interval: state.interval }),
    totalsLine({ overview: shown.overview, width, theme }),
    tabsLine({ state, width, theme }),
    ...Array.from({ length: height }, (_, at) => middle[at] ?? ''),
    statusLine({ state, away, readOnly, width, theme })
  ]
}

function middleLines({ size, state, shown, detail, now, theme }: FrameProps): string[] {
  const { columns: width } = size
  if (state.mode === 'help') return helpLines(width)
  if (state.detail) {
    return openedLines({ opened: state.detail, ...detail, width, body: bodyOf(size), theme })
  }
  return blocksOfState({ size, state, shown }).flatMap(({ pane, body }, at) => {
    const table = tableFor(pane, state, shown, now)
    const lines = listLines({
      title: TITLES[pane],
      table,
      width,
      body,
      chosen: chosen(state.selections[pane], table.lines),
      active: pane === state.pane,
      marks: state.marks[pane],
      theme
    })
    return at === 0 ? lines : ['', ...lines]
  })
}

interface Screenful {
  readonly size: Size
  readonly state: State
  readonly shown: Shown
}

/** Returns the visible panes and their heights. */
function blocksOfState({ size, state, shown: { overview, jobs, builds } }: Screenful): Block[] {
  const counts: { readonly [Name in Pane]: number } = {
    queues: overview.queues.length,
    processes: overview.processes.length,
    failures: overview.failures.length,
    builds: state.pane === 'builds' && builds !== null ? builds.length : overview.builds.length,
    jobs: jobs?.jobs.length ?? 0,
    hooks: overview.hooks.length,
    mail: overview.mail.troubled.length
  }
  return blocksOf(size, state.pane, counts)
}

/** Returns how many lines of the active pane are visible. */
export const pageOf = (screenful: Screenful) =>
  blocksOfState(screenful).find(({ pane }) => pane === screenful.state.pane)?.body ?? 1

/** Returns the table of a pane for the current state. The filter applies only to the active pane. */
export function tableFor(pane: Pane, state: State, shown: Shown, now: number): Table {
  const active = pane === state.pane
  const wanted = pane === 'builds' && !active ? { ...shown, builds: null } : shown
  return tableOf(pane, wanted, {
    filter: active ? state.filter : '',
    sort: state.sorts[pane],
    reversed: state.reversed[pane],
    now,
    page: state.pages.length,
    search: state.search
  })
}
