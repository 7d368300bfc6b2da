// One plain frame, for a pipe or a log: no escapes, and every pane below the other.
import { Box, renderToString } from 'ink'
import { PANES } from './keymap.js'
import { TITLES, Title, Totals } from './panes/lines.js'
import { List } from './panes/list.js'
import type { JobOverview } from './source.js'
import { tableOf } from './tables.js'

/** Failures and builds beyond these are counted, and not shown. */
const MOST = 20

/** The lines of the frame, as wide as they are told. */
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
