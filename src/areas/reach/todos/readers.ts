// Finds out which of many users may read a target: the users whom a text mentions, or the members of a group.
import { type Fragment, type SeenProject, usersWhoSee, usersWithLevel } from '../../../access/membership.js'
import { row } from '../../../db/connect/sql.js'
import { REPORTER } from '../../../lib/levels.js'
import type { TodoTarget } from './todos.js'

interface Facts extends SeenProject {
  readonly issues_enabled: number
  readonly merge_requests_enabled: number
  /** Null when the target is not an issue, or no longer exists. */
  readonly confidential: number | null
  readonly author_id: number | null
  readonly assignee_id: number | null
}

/** Returns the condition that the user `u` may read a target; undefined when nobody may. Runs one statement. */
export async function readersOf(target: TodoTarget): Promise<Fragment | undefined> {
  const found = await row<Facts>(
    `select p.id, p.visibility_level, p.has_shares, p.issues_enabled, p.merge_requests_enabled, i.confidential, i.author_id,
       i.assignee_id
     from projects p left join issues i on i.id = ? where p.id = ?`,
    [target.type === 'Issue' ? target.id : null, target.projectId]
  )
  const readable = found && conditionOf(target, found)
  return readable && { sql: `u.state = 'active' and ${readable.sql}`, values: readable.values }
}

function conditionOf({ type }: TodoTarget, facts: Facts): Fragment | undefined {
  if (type === 'Commit') return usersWhoSee(facts, REPORTER)
  if (type === 'MergeRequest') return facts.merge_requests_enabled === 1 ? usersWhoSee(facts, REPORTER) : undefined
  if (facts.issues_enabled === 0 || facts.confidential === null) return undefined
  const seen = usersWhoSee(facts)
  if (facts.confidential === 0) return seen
  const trusted = usersWithLevel(facts, REPORTER)
  return {
    sql: `${seen.sql} and (u.id in (?, ?) or ${trusted.sql})`,
    values: [...seen.values, facts.author_id, facts.assignee_id ?? 0, ...trusted.values]
  }
}
