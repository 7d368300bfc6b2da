// The numbers (iid) of issues, milestones and merge requests are counted in each project. A number is usually taken outside of
// the transaction that uses it: the row of the counter is then locked for one statement, not until a commit, and
// concurrent requests of this process share one statement. Thus 50 writers of one project do not wait for each other.
// Such a number of a failed transaction is never used, and the number of a deleted record is not used again, so that links
// to it never lead to another record.

import { together } from './batching.js'
import { currentTransaction } from './scope.js'
import { execute } from './sql.js'

export type Counted = 'issue' | 'milestone' | 'merge_request'

interface Asked {
  readonly projectId: number
  readonly kind: Counted
}

const take = together<string, Asked, number>(async asked => {
  const [first] = asked
  return first ? nextNumbers(first.projectId, first.kind, asked.length) : []
})

/** The table and column that contain the numbers of a project. */
const NUMBERED: { readonly [Kind in Counted]: string } = {
  issue: 'issues where project_id',
  milestone: 'milestones where project_id',
  merge_request: 'merge_requests where target_project_id'
}

/** Sets the last number of a project, but at least to the highest number in use. For projects that nobody can see yet. */
export async function setLastNumber(projectId: number, kind: Counted, last: number): Promise<void> {
  await execute(
    `insert into counters (project_id, kind, last)
     select ?, ?, greatest(?, coalesce((select max(iid) from ${NUMBERED[kind]} = ?), 0)) on duplicate key update last = values(last)`,
    [projectId, kind, last, projectId]
  )
}

/** Takes the next number of a project. Call it before `transact`, after all checks that are possible before it. */
export const nextNumber = (projectId: number, kind: Counted): Promise<number> =>
  take(`${projectId} ${kind}`, { projectId, kind })

/** Takes the next numbers of a project, in order. Call it before `transact`, too. */
export async function nextNumbers(projectId: number, kind: Counted, count: number): Promise<number[]> {
  if (currentTransaction()) throw new Error('take a number before the transaction that uses it')
  // Two statements that insert the first row at once may deadlock: `execute` runs one of them again.
  return takeNumbers(projectId, kind, count)
}

/**
 * Takes the next numbers in the current transaction, which holds the counter until its end, and saves the commit of the counter. Only
 * for a transaction of a few statements, whose callers `together` serves one after the other.
 */
export async function takeNumbers(projectId: number, kind: Counted, count: number): Promise<number[]> {
  const { insertId: last } = await execute(
    `insert into counters (project_id, kind, last) values (?, ?, last_insert_id(?))
     on duplicate key update last = last_insert_id(last + ?)`,
    [projectId, kind, count, count]
  )
  return Array.from({ length: count }, (_, at) => last - count + 1 + at)
}
