// Draws one plain frame for a pipe or a log: without escapes, and with all panes below each other.
import { Box, renderToString } from 'ink'
import { PANES } from './keymap.js'
import { TITLES, Title, Totals } from './panes/lines.js'
import { List } from './panes/list.js'
import type { JobOverview } from './source.js'
import { tableOf } from './tables.js'

/** A pane shows at most this many lines. Its title counts all of them. */
const MOST = 20

/** The frame as text, with lines of at most `width` columns. */
export function plainFrame(name: string, overview: JobOverview, width: number): string {
  const now = new Date(overview.at).getTime()
  const frame = (
    <Box flexDirection="column" width={width}>
      <Title name={name} at={overview.at} width={width} theme="plain" />
      <Totals overview={overview} width={width} theme="plain" />
      {PANES.filter(pane => pane !== 'jobs').map(pane => {
        const table = tableOf(pane, { overview, jobs: [] }, { filter: '', sort: 0, now })
        return (
          <Box key={pane} flexDirection="column" marginTop={1}>
            <List
              title={TITLES[pane]}
              table={table}
              width={width}
              body={MOST}
              chosen={-1}
              active={false}
              theme="plain"
            />
          </Box>
        )
      })}
    </Box>
  )
  return renderToString(frame, { columns: width }).replace(/[ \t]+$/gm, '')
}
