// The numbers (iid) of issues, milestones and merge requests count in their project. A number is taken outside of the
// transaction that uses it: the row of the counter is then locked for one statement, not until a commit, and requests of
// this process that come together share one statement. 50 writers of one project do not wait for each other. A number whose
// transaction fails is never used; nor is that of a deleted record, so that links to it lead nowhere else.
import { setTimeout as sleep } from 'node:timers/promises'
import { isRetriable } from './failure.js'
import { currentTransaction } from './scope.js'
import { execute } from './sql.js'

export type Counted = 'issue' | 'milestone' | 'merge_request'

interface Waiting {
  readonly use: (number: number) => void
  readonly fail: (error: unknown) => void
}

/** Those who wait for the next statement, by counter. The key is there while a statement of the counter runs. */
const waiting = new Map<string, Waiting[]>()
const TRIES = 5

/** Takes the next number of a project. Call it before `transact`, when all that can be checked is checked. */
export function nextNumber(projectId: number, kind: Counted): Promise<number> {
  if (currentTransaction()) throw new Error('a number is taken before the transaction that uses it')
  const key = `${projectId} ${kind}`
  return new Promise((use, fail) => {
    const others = waiting.get(key)
    if (others) {
      others.push({ use, fail })
      return
    }
    waiting.set(key, [{ use, fail }])
    void serve(key, projectId, kind)
  })
}

async function serve(key: string, projectId: number, kind: Counted): Promise<void> {
  for (;;) {
    const served = waiting.get(key) ?? []
    if (served.length === 0) {
      waiting.delete(key)
      return
    }
    waiting.set(key, [])
    try {
      const last = await take(projectId, kind, served.length)
      served.forEach(({ use }, at) => {
        use(last - served.length + 1 + at)
      })
    } catch (error) {
      for (const { fail } of served) fail(error)
    }
  }
}

/** Returns the last of `count` numbers. */
async function take(projectId: number, kind: Counted, count: number): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { insertId } = await execute(
        `insert into counters (project_id, kind, last) values (?, ?, last_insert_id(?))
         on duplicate key update last = last_insert_id(last + ?)`,
        [projectId, kind, count, count]
      )
      return insertId
    } catch (error) {
      // Two that insert the first row at once may deadlock.
      if (!isRetriable(error) || attempt === TRIES) throw error
      await sleep(2 ** attempt * 5 * Math.random())
    }
  }
}
