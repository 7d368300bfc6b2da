// The visibility levels that a project may have.
import type { Origin } from '../../../access/actor.js'
import { execute, marks, row, rows } from '../../../db/connect/sql.js'
import { Invalid } from '../../../errors.js'
import { batches } from '../../../lib/batches.js'
import { visibilityName } from '../../../lib/levels.js'
import { auditAll } from '../../ground/audit/audit.js'
import { applicationSettings } from '../../ground/settings/settings.queries.js'
import { checkVisibility } from '../../ground/settings/visibility.js'

/**
 * Throws Invalid for a level that the settings reserve for administrators, and for one above the group's level. Call it
 * inside `transact`: the group cannot change its level until the end.
 */
export async function checkProjectVisibility(level: number, namespaceId: number, origin: Origin): Promise<void> {
  // A command may use all levels, as administrators do.
  checkVisibility(level, origin.asker ?? { admin: true }, await applicationSettings())
  const most = await groupLevel(namespaceId)
  if (most === null || level <= most) return
  throw new Invalid('visibility_level', `${visibilityName(level)} is not allowed in a ${visibilityName(most)} group`)
}

/** Returns the visibility level of a group, which cannot change until the transaction ends; null for the namespace of a user. */
async function groupLevel(namespaceId: number): Promise<number | null> {
  const found = await row<{ kind: string; level: number }>(
    'select kind, visibility_level as level from namespaces where id = ? lock in share mode',
    [namespaceId]
  )
  return found?.kind === 'group' ? found.level : null
}

interface Fork {
  readonly id: number
  readonly visibility_level: number
  readonly name: string
}

/**
 * Not specified: what happens to the forks of a project that becomes less visible. They and their own forks get its
 * level, because they have its content. Call it inside `transact`, with the row of the project locked.
 */
export async function lowerForks(projectId: number, level: number, origin: Origin): Promise<void> {
  // Cycles end too: a fork that already has the level is not found again.
  for (let sources: readonly number[] = [projectId]; sources.length > 0; ) {
    const lowered: number[] = []
    for (const some of batches(sources, AT_ONCE)) {
      const forks = await rows<Fork>(
        `select p.id, p.visibility_level, concat(n.path, '/', p.path) as name from forked_project_links f
         join projects p on p.id = f.forked_to_project_id join namespaces n on n.id = p.namespace_id
         where f.forked_from_project_id in (${marks(some)}) and p.visibility_level > ? order by p.id`,
        [...some, level]
      )
      for (const part of batches(forks, AT_ONCE)) await lower(part, level, origin)
      lowered.push(...forks.map(({ id }) => id))
    }
    sources = lowered
  }
}

async function lower(forks: readonly Fork[], level: number, origin: Origin): Promise<void> {
  const ids = forks.map(({ id }) => id)
  await execute(
    `update projects set visibility_level = ?, updated_at = ? where id in (${marks(ids)}) and visibility_level > ?`,
    [level, new Date(), ...ids, level]
  )
  await auditAll(
    origin,
    forks.map(({ id, name, visibility_level: before }) => ({
      action: 'project.update',
      target: { type: 'project', id, name },
      changes: { visibility_level: { before, after: level }, reason: { after: 'the source of the fork' } }
    }))
  )
}

const AT_ONCE = 500

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
