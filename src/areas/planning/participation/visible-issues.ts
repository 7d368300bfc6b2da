// The issues of a project that a user can see.
import type { Actor } from '../../../access/actor.js'
import { levelIn } from '../../../access/authorize.js'
import type { Fragment } from '../../../access/membership.js'
import { ALL } from '../../../db/lists/conditions.js'
import { REPORTER } from '../../../lib/levels.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'

/** Whether a user sees all confidential issues of the project; other users see those that name them as author or assignee. */
export const seesConfidential = (project: ProjectRow, actor: Actor): boolean => levelIn(project, actor) >= REPORTER

/** Returns the condition that the caller may see the issue `i` of a project that the caller may see. */
export function visibleIssues(project: ProjectRow, actor: Actor): Fragment {
  if (!project.issues_enabled) return { sql: 'false', values: [] }
  if (seesConfidential(project, actor)) return ALL
  return {
    sql: '(i.confidential = false or i.author_id = ? or i.assignee_id = ?)',
    values: [actor.user?.id ?? 0, actor.user?.id ?? 0]
  }
}
