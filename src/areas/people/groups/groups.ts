import { randomUUID } from 'node:crypto'
import type { Origin } from '../../../access/actor.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { BadParameters, Invalid, NotFound } from '../../../errors.js'
import { visibilityName } from '../../../lib/levels.js'
import { doerOf } from '../../ground/activity/authors.js'
import { publishAll } from '../../ground/activity/events.js'
import { projectsOfNamespace } from '../../ground/activity/project-snapshots.js'
import { audit, changesBetween } from '../../ground/audit/audit.js'
import { redirectNamespace, takeNamespacePaths } from '../../ground/paths/redirects.js'
import { checkGroup, checkGroupVisibility, GROUP_ATTRIBUTES, type GroupChange, takenPath } from './group-rules.js'
import { type GroupRecord, lockGroup } from './groups.queries.js'

/**
 * Changes the given attributes of a group. A new path moves its projects to it, and each gets a `project_rename` event.
 * Throws NotFound, Invalid, and BadParameters when no attribute is given.
 */
export async function updateGroup(id: number, change: GroupChange, origin: Origin): Promise<void> {
  const changed = GROUP_ATTRIBUTES.filter(name => change[name] !== undefined)
  if (changed.length === 0) {
    throw new BadParameters(`${GROUP_ATTRIBUTES.join(', ')} are missing, at least one parameter must be provided`)
  }
  checkGroup(change)
  await transact(async () => {
    const group = await lockGroup(id)
    if (!group) throw new NotFound('Group')
    const { visibility_level: level, path } = change
    if (level !== undefined && level !== group.visibility_level) await checkLevel(group, level, origin)
    const moved = path !== undefined && path !== group.path ? await projectsOfNamespace(id) : []
    await write(id, change, changed)
    if (path !== undefined) await redirectOldPath(group, path, origin)
    const move = { id: randomUUID(), before: group.path, path: path ?? group.path }
    await publishAll(
      moved.map(project => ({
        kind: 'project.renamed',
        project: { ...project, path_with_namespace: `${path}/${project.path}` },
        old_path_with_namespace: project.path_with_namespace,
        by: doerOf(origin),
        moved: move
      }))
    )
    const changes = changesBetween(plain(group, changed), change)
    if (Object.keys(changes).length === 0) return
    await audit(origin, { action: 'group.update', target: { type: 'group', id, name: group.path }, changes })
  })
}

/** Redirects the old path to the group until something new takes it. */
async function redirectOldPath({ id, path: old }: GroupRecord, path: string, origin: Origin): Promise<void> {
  await takeNamespacePaths([path], { attribute: 'path', namespaceId: id, userId: origin.asker?.id })
  if (old.toLowerCase() !== path.toLowerCase()) await redirectNamespace(old, id)
}

/** Not specified: a group cannot be less visible than one of its projects, because they would stay visible. */
async function checkLevel(group: GroupRecord, level: number, origin: Origin): Promise<void> {
  await checkGroupVisibility(level, origin.asker)
  const found = await row('select 1 from projects where namespace_id = ? and visibility_level > ? limit 1', [
    group.id,
    level
  ])
  if (!found) return
  throw new Invalid(
    'visibility_level',
    `${visibilityName(level)} is not allowed since this group contains projects with higher visibility`
  )
}

async function write(id: number, change: GroupChange, changed: readonly (keyof GroupChange)[]): Promise<void> {
  try {
    await execute(
      `update namespaces set ${changed.map(name => `${name} = ?`).join(', ')}, updated_at = ? where id = ?`,
      [...changed.map(name => change[name] ?? null), new Date(), id]
    )
  } catch (error) {
    throw takenPath(error)
  }
}

const FLAGS = new Set(['lfs_enabled', 'request_access_enabled', 'share_with_group_lock'])

/** The attributes in the form of a request, for the audit. */
const plain = (group: GroupRecord, names: readonly (keyof GroupRecord)[]) =>
  Object.fromEntries(names.map(name => [name, FLAGS.has(name) ? group[name] === 1 : group[name]]))
