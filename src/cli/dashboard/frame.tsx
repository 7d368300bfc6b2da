// Draws a whole frame, exactly as large as the terminal. It depends on its props alone.
import { Box } from 'ink'
import { PANES, type Pane } from './keymap.js'
import { blocksOf, HEADER, isTooSmall, type Size, STATUS } from './layout.js'
import { Detail } from './panes/detail.js'
import { Help } from './panes/help.js'
import { CutLine } from './panes/line.js'
import { Status, Tabs, TITLES, Title, Totals } from './panes/lines.js'
import { List } from './panes/list.js'
import type { Job } from './source.js'
import { chosen, type State } from './state.js'
import type { Theme } from './style.js'
import { type Shown, type Table, tableOf } from './tables.js'

export interface FrameProps {
  readonly size: Size
  readonly name: string
  readonly state: State
  readonly shown: Shown
  readonly detail: { readonly found: Job | 'gone' | null; readonly lines: readonly string[] }
  readonly away: string | null
  readonly readOnly: boolean
  readonly now: number
  readonly theme: Theme
}

/** How many lines are left below the header for one pane, one job or the list of keys. */
export const bodyOf = ({ rows }: Size) => rows - HEADER - STATUS - 1

export function Frame(props: FrameProps) {
  const { size, name, state, shown, away, readOnly, theme } = props
  const { columns: width, rows } = size
  if (isTooSmall(size)) return <CutLine text="the terminal is too small" width={width} theme={theme} />
  const note = `${readOnly ? 'read-only  ' : ''}every ${state.interval} s  `
  return (
    <Box flexDirection="column" width={width} height={rows}>
      <Title name={name} at={shown.overview.at} width={width} theme={theme} note={note} />
      <Totals overview={shown.overview} width={width} theme={theme} />
      <Tabs state={state} width={width} theme={theme} />
      <Box flexDirection="column" height={rows - HEADER - STATUS}>
        <Middle {...props} />
      </Box>
      <Status state={state} away={away} readOnly={readOnly} width={width} theme={theme} />
    </Box>
  )
}

function Middle({ size, state, shown, detail, now, theme }: FrameProps) {
  const { columns: width } = size
  const body = bodyOf(size)
  if (state.mode === 'help') return <Help width={width} body={body + 1} />
  if (state.detail) {
    const { job, scroll } = state.detail
    return <Detail job={job} scroll={scroll} {...detail} width={width} body={body} theme={theme} />
  }
  const tables = tablesOf(state, shown, now)
  const counts = Object.fromEntries(PANES.map(pane => [pane, tables[pane].lines.length])) as { [Name in Pane]: number }
  return blocksOf(size, state.pane, counts).map(({ pane, body: lines }, at) => (
    <Box key={pane} flexDirection="column" marginTop={at === 0 ? 0 : 1}>
      <List
        title={TITLES[pane]}
        table={tables[pane]}
        width={width}
        body={lines}
        chosen={chosen(state.selections[pane], tables[pane].lines)}
        active={pane === state.pane}
        theme={theme}
      />
    </Box>
  ))
}

/** The tables of all panes. The filter applies to the active pane alone. */
function tablesOf(state: State, shown: Shown, now: number): { readonly [Name in Pane]: Table } {
  const entries = PANES.map(pane => {
    const filter = pane === state.pane ? state.filter : ''
    return [pane, tableOf(pane, shown, { filter, sort: state.sorts[pane], now })]
  })
  return Object.fromEntries(entries) as { [Name in Pane]: Table }
}
