// How many issues a project has. The numbers are kept, because a count of a million rows takes half a second, and several
// rows hold their parts, because all writers of a project would wait for one.
import { execute, row } from '../../db/sql.js'

/** Rows of each project. */
const SLOTS = 8

export interface Counted {
  readonly open: boolean
  readonly confidential: boolean
}

/** Counts an issue that came (1) or went (-1). Call it at the end of the transaction of the change. */
export async function countIssue(projectId: number, { open, confidential }: Counted, by: 1 | -1): Promise<void> {
  await addToCounts(projectId, changeOf({ open, confidential }, by))
}

/** Counts an issue whose state or confidentiality has changed. Call it at the end of the transaction of the change. */
export async function recountIssue(projectId: number, before: Counted, after: Counted): Promise<void> {
  if (before.open === after.open && before.confidential === after.confidential) return
  const [gone, come] = [changeOf(before, -1), changeOf(after, 1)]
  await addToCounts(projectId, gone.map((value, at) => value + (come[at] ?? 0)) as unknown as Numbers)
}

/** Open issues, closed ones, and how many of each are confidential. */
type Numbers = readonly [opened: number, closed: number, openedConfidential: number, closedConfidential: number]

const changeOf = ({ open, confidential }: Counted, by: number): Numbers => [
  open ? by : 0,
  open ? 0 : by,
  open && confidential ? by : 0,
  !open && confidential ? by : 0
]

async function addToCounts(projectId: number, numbers: Numbers): Promise<void> {
  await execute(
    `insert into issue_counts (project_id, slot, opened, closed, opened_confidential, closed_confidential)
     values (?, ?, ?, ?, ?, ?) on duplicate key update opened = opened + ?, closed = closed + ?,
       opened_confidential = opened_confidential + ?, closed_confidential = closed_confidential + ?`,
    [projectId, Math.floor(Math.random() * SLOTS), ...numbers, ...numbers]
  )
}

/** Returns how many issues a project has in a state, and how many of them are confidential. */
export async function issueCounts(
  projectId: number,
  state: 'opened' | 'closed' | 'all'
): Promise<{ total: number; confidential: number }> {
  const sum = (column: string) => `cast(coalesce(sum(${column}), 0) as signed)`
  const found = await row<Record<'opened' | 'closed' | 'openedSecret' | 'closedSecret', number>>(
    `select ${sum('opened')} as opened, ${sum('closed')} as closed, ${sum('opened_confidential')} as openedSecret,
       ${sum('closed_confidential')} as closedSecret from issue_counts where project_id = ?`,
    [projectId]
  )
  const { opened = 0, closed = 0, openedSecret = 0, closedSecret = 0 } = found ?? {}
  if (state === 'opened') return { total: opened, confidential: openedSecret }
  if (state === 'closed') return { total: closed, confidential: closedSecret }
  return { total: opened + closed, confidential: openedSecret + closedSecret }
}

/** Takes the issues of a user off the counts. Call it before the user's rows go, in the same transaction. */
export async function uncountIssues(userId: number): Promise<void> {
  await execute(
    `insert into issue_counts (project_id, slot, opened, closed, opened_confidential, closed_confidential)
     select project_id, 0, -sum(is_open), -sum(not is_open), -sum(is_open and confidential), -sum(not is_open and confidential)
     from issues where author_id = ? group by project_id
     on duplicate key update opened = issue_counts.opened + values(opened), closed = issue_counts.closed + values(closed),
       opened_confidential = issue_counts.opened_confidential + values(opened_confidential),
       closed_confidential = issue_counts.closed_confidential + values(closed_confidential)`,
    [userId]
  )
}
