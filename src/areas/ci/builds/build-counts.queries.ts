// Counts of all builds. There is no table of counts: each change of a build would have to write to it, and builds of all projects
// would wait for the same rows. With several rows for each project, as issues have them, nobody would wait, but each build would
// write five more rows for numbers that only the metrics show. The caller repeats the counts as rarely as they are long.
import { marks, rows } from '../../../db/connect/sql.js'

const UNFINISHED = ['created', 'pending', 'running'] as const
const ENDED = ['success', 'failed', 'canceled', 'skipped'] as const

type Counts = Map<string, number>

/** Counts the builds that have not ended, by status. It reads only their entries in an index, however many builds have ended. */
export const countUnfinishedBuilds = () => count(UNFINISHED)

/** Counts the builds that have ended, by status, in an index, which takes 0.2 s for a million. */
export const countEndedBuilds = () => count(ENDED)

/** A status without a build has 0. */
async function count(statuses: readonly string[]): Promise<Counts> {
  const found = await rows<{ status: string; count: number }>(
    `select status, count(*) as count from builds where status in (${marks(statuses)}) group by status`,
    [...statuses]
  )
  return new Map([
    ...statuses.map(status => [status, 0] as const),
    ...found.map(row => [row.status, row.count] as const)
  ])
}
