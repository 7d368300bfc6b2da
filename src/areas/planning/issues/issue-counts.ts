// The numbers of issues of a project. They are stored, because counting a million rows takes half a second. Each
// project has several rows with parts of them, because with one row all writers of the project would wait for each
// other. The rows also count how often ranks changed: `moves` counts issues that were added or removed elsewhere than
// at the young end, `turns` those that were closed, reopened, hidden or shown.

import { execute, row } from '../../../db/connect/sql.js'
import { moved } from '../../../db/lists/keyset-cache.js'

/** The number of rows of each project. */
const SLOTS = 8

export interface Counted {
  readonly open: boolean
  readonly confidential: boolean
}

/**
 * Counts issues that were added (1) or removed (-1). `youngest`: they were created just now, so no other issue changes
 * its rank. Call it at the end of the transaction of the change.
 */
export async function countIssues(
  projectId: number,
  issues: readonly Counted[],
  by: 1 | -1,
  { youngest }: { readonly youngest: boolean }
): Promise<void> {
  const numbers = issues.map(issue => changeOf(issue, by)).reduce(sumOf)
  await addToCounts(projectId, { numbers, moves: youngest ? 0 : 1, turns: 0 })
}

/** Counts an issue whose state or confidentiality changed. Call it at the end of the transaction of the change. */
export async function recountIssue(projectId: number, before: Counted, after: Counted): Promise<void> {
  if (before.open === after.open && before.confidential === after.confidential) return
  await addToCounts(projectId, { numbers: sumOf(changeOf(before, -1), changeOf(after, 1)), moves: 0, turns: 1 })
}

/** The numbers of open and of closed issues, and how many of each are confidential. */
type Numbers = readonly [opened: number, closed: number, openedConfidential: number, closedConfidential: number]

const changeOf = ({ open, confidential }: Counted, by: number): Numbers => [
  open ? by : 0,
  open ? 0 : by,
  open && confidential ? by : 0,
  !open && confidential ? by : 0
]

const sumOf = (some: Numbers, others: Numbers): Numbers =>
  some.map((value, at) => value + (others[at] ?? 0)) as unknown as Numbers

interface Change {
  readonly numbers: Numbers
  readonly moves: number
  readonly turns: number
}

async function addToCounts(projectId: number, { numbers, moves, turns }: Change): Promise<void> {
  const values = [...numbers, moves, turns]
  await execute(
    `insert into issue_counts (project_id, slot, opened, closed, opened_confidential, closed_confidential, moves, turns)
     values (?, ?, ?, ?, ?, ?, ?, ?) on duplicate key update opened = opened + ?, closed = closed + ?,
       opened_confidential = opened_confidential + ?, closed_confidential = closed_confidential + ?,
       moves = moves + ?, turns = turns + ?`,
    [projectId, Math.floor(Math.random() * SLOTS), ...values, ...values],
    projectId
  )
  moved('Issue')
}

/** Selects the stored counts of a project as one text. In a statement that reads issues, they are the counts of the same moment. */
export const KEPT_COUNTS = `(select concat_ws(' ', coalesce(sum(opened), 0), coalesce(sum(closed), 0), coalesce(sum(opened_confidential), 0),
  coalesce(sum(closed_confidential), 0), coalesce(sum(moves), 0), coalesce(sum(turns), 0)) from issue_counts where project_id = ?)`

export type State = 'opened' | 'closed' | 'all'

export interface IssueCounts {
  readonly total: number
  readonly confidential: number
  /** Changes when an issue in this state is added, removed or gets another rank by creation; not when one is created just now. */
  readonly version: string
}

/** Reads the text of KEPT_COUNTS for a state. */
export function readCounts(text: string, state: State): IssueCounts {
  const [opened = 0, closed = 0, openedSecret = 0, closedSecret = 0, moves = 0, turns = 0] = text.split(' ').map(Number)
  const version = `${moves} ${turns}`
  if (state === 'opened') return { total: opened, confidential: openedSecret, version }
  if (state === 'closed') return { total: closed, confidential: closedSecret, version }
  return { total: opened + closed, confidential: openedSecret + closedSecret, version }
}

/** Returns how many issues a project has in a state, and how many of them are confidential. */
export async function issueCounts(projectId: number, state: State): Promise<IssueCounts> {
  const found = await row<{ counts: string }>(`select ${KEPT_COUNTS} as counts`, [projectId])
  return readCounts(found?.counts ?? '', state)
}

/** Counts all issues of a project that no user sees yet. Call it inside `transact`. */
export async function countAllIssues(projectId: number): Promise<void> {
  await execute('delete from issue_counts where project_id = ?', [projectId], projectId)
  await execute(
    `insert into issue_counts (project_id, slot, opened, closed, opened_confidential, closed_confidential)
     select project_id, 0, sum(is_open), sum(not is_open), sum(is_open and confidential), sum(not is_open and confidential)
     from issues where project_id = ? group by project_id`,
    [projectId],
    projectId
  )
}

/** Subtracts the issues of a user from the counts. Call it before the rows of the user are deleted, in the same transaction. */
export async function uncountIssues(userId: number): Promise<void> {
  await execute(
    `insert into issue_counts (project_id, slot, opened, closed, opened_confidential, closed_confidential, moves)
     select project_id, 0, -sum(is_open), -sum(not is_open), -sum(is_open and confidential), -sum(not is_open and confidential), 1
     from issues where author_id = ? group by project_id
     on duplicate key update opened = issue_counts.opened + values(opened), closed = issue_counts.closed + values(closed),
       opened_confidential = issue_counts.opened_confidential + values(opened_confidential),
       closed_confidential = issue_counts.closed_confidential + values(closed_confidential), moves = issue_counts.moves + 1`,
    [userId]
  )
  moved('Issue')
}
