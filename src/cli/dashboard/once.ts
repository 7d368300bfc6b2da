// Draws one plain frame for a pipe or a log: without escape sequences, and with all panes below each other. It does without
// Ink, which takes a third of a second to load.

import { tableOf } from './drawing/tables.js'
import { PANES } from './keymap.js'
import { TITLES, titleLine, totalsLine } from './panes/lines.js'
import { listLines } from './panes/list.js'
import type { JobOverview } from './source.js'

/** A pane shows at most this many lines. Its title counts all of them. */
const MOST = 20

/** Returns the frame as text, with lines of at most `width` columns. */
export function plainFrame(name: string, overview: JobOverview, width: number): string {
  const now = new Date(overview.at).getTime()
  const view = { filter: '', sort: 0, reversed: false, now }
  const panes = PANES.filter(pane => pane !== 'jobs').flatMap(pane => {
    const table = tableOf(pane, { overview, jobs: null, builds: null }, view)
    const title = TITLES[pane]
    return ['', ...listLines({ title, table, width, body: MOST, chosen: -1, active: false, marks: [], theme: 'plain' })]
  })
  const head = [
    titleLine({ name, at: overview.at, width, theme: 'plain' }),
    totalsLine({ overview, width, theme: 'plain' })
  ]
  return [...head, ...panes].map(line => line.trimEnd()).join('\n')
}
