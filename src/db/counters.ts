// The numbers (iid) of issues, milestones and merge requests count in their project. A number is taken outside of the
// transaction that uses it: the row of the counter is then locked for one statement, not until a commit, and requests of
// this process that come together share one statement. 50 writers of one project do not wait for each other. A number whose
// transaction fails is never used; nor is that of a deleted record, so that links to it lead nowhere else.
import { currentTransaction } from './scope.js'
import { execute } from './sql.js'
import { together } from './together.js'
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
