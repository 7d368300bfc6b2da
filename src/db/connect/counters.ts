// The numbers (iid) of issues, milestones and merge requests count in their project. A number is taken outside of the
// transaction that uses it: the row of the counter is then locked for one statement, not until a commit, and requests of
// this process that come together share one statement. 50 writers of one project do not wait for each other. A number whose
// transaction fails is never used; nor is that of a deleted record, so that links to it lead nowhere else.

import { together } from './batching.js'
import { currentTransaction } from './scope.js'
import { execute } from './sql.js'
import { transact } from './transact.js'

export type Counted = 'issue' | 'milestone' | 'merge_request'

interface Asked {
  readonly projectId: number
  readonly kind: Counted
}

const take = together<string, Asked, number>(async asked => {
  const [first] = asked
  return first ? nextNumbers(first.projectId, first.kind, asked.length) : []
})

/** Where the numbers of a project are. */
const NUMBERED: { readonly [Kind in Counted]: string } = {
  issue: 'issues where project_id',
  milestone: 'milestones where project_id',
  merge_request: 'merge_requests where target_project_id'
}

/** Sets the last number of a project, but at least to the highest one in use. For projects that nobody sees yet. */
export async function setLastNumber(projectId: number, kind: Counted, last: number): Promise<void> {
  await execute(
    `insert into counters (project_id, kind, last)
     select ?, ?, greatest(?, coalesce((select max(iid) from ${NUMBERED[kind]} = ?), 0)) on duplicate key update last = values(last)`,
    [projectId, kind, last, projectId]
  )
}

/** Takes the next number of a project. Call it before `transact`, when all that can be checked is checked. */
export const nextNumber = (projectId: number, kind: Counted): Promise<number> =>
  take(`${projectId} ${kind}`, { projectId, kind })

/** Takes the next numbers of a project, in their order. Call it before `transact`, too. */
export async function nextNumbers(projectId: number, kind: Counted, count: number): Promise<number[]> {
  if (currentTransaction()) throw new Error('a number is taken before the transaction that uses it')
  // A transaction of its own is tried again: two that insert the first row at once may deadlock.
  const { insertId: last } = await transact(() =>
    execute(
      `insert into counters (project_id, kind, last) values (?, ?, last_insert_id(?))
       on duplicate key update last = last_insert_id(last + ?)`,
      [projectId, kind, count, count]
    )
  )
  return Array.from({ length: count }, (_, at) => last - count + 1 + at)
}
