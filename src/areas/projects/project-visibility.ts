// Which visibility levels a project may have.
import type { Origin } from '../../access/actor.js'
import { row } from '../../db/sql.js'
import { Invalid } from '../../errors.js'
import { visibilityName } from '../../lib/levels.js'
import { applicationSettings } from '../settings/settings.queries.js'
import { checkVisibility } from '../settings/visibility.js'

/**
 * Throws Invalid for a level that the settings keep for administrators, and for one above the group's. Call it inside
 * `transact`: the group cannot change its level until the end.
 */
export async function checkProjectVisibility(level: number, namespaceId: number, origin: Origin): Promise<void> {
  // A command may use all levels, as administrators do.
  checkVisibility(level, origin.asker ?? { admin: true }, await applicationSettings())
  const most = await groupLevel(namespaceId)
  if (most === null || level <= most) return
  throw new Invalid('visibility_level', `${visibilityName(level)} is not allowed in a ${visibilityName(most)} group`)
}

/** The visibility level of a group, which cannot change until the transaction ends; null for the namespace of a user. */
export async function groupLevel(namespaceId: number): Promise<number | null> {
  const found = await row<{ kind: string; level: number }>(
    'select kind, visibility_level as level from namespaces where id = ? lock in share mode',
    [namespaceId]
  )
  return found?.kind === 'group' ? found.level : null
}

/** Not specified: a fork cannot be more visible than its source, because it has the source's content. Throws Invalid. */
export async function checkForkVisibility(level: number, projectId: number): Promise<void> {
  const source = await row<{ level: number }>(
    `select p.visibility_level as level from forked_project_links f
     join projects p on p.id = f.forked_from_project_id where f.forked_to_project_id = ?`,
    [projectId]
  )
  if (!source || level <= source.level) return
  throw new Invalid(
    'visibility_level',
    `${visibilityName(level)} is not allowed since the fork source project has lower visibility`
  )
}
