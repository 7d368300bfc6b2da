// A group begins with its first member, the owner.
import { type ActorUser, type Origin, requireAsker } from '../../../access/actor.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { BadRequest, Forbidden, Invalid } from '../../../errors.js'
import { OWNER, VISIBILITIES } from '../../../lib/levels.js'
import { publish } from '../../ground/activity/events.js'
import { groupSnapshot } from '../../ground/activity/snapshots.js'
import { audit, changesBetween } from '../../ground/audit/audit.js'
import { takeNamespacePaths } from '../../ground/paths/redirects.js'
import { applicationSettings } from '../../ground/settings/settings.queries.js'
import { checkGroup, checkGroupVisibility, type GroupBody, takenPath } from '../groups/group-rules.js'
import { lockGroup } from '../groups/groups.queries.js'
import { becomeMember } from './members.js'
import { sourceOfGroup } from './sources.js'

type Owner = Pick<ActorUser, 'id' | 'admin'>

/**
 * Creates a group owned by the caller, and returns its id. A command names the owner, who then needs no right to create
 * groups. Throws Forbidden for users who may not create groups, and BadRequest with everything that is wrong with the
 * group, as "Members, groups, namespaces" says.
 */
export async function createGroup(body: GroupBody, origin: Origin, owner?: Pick<Owner, 'id'>): Promise<number> {
  const creator = owner ? { id: owner.id, admin: true } : requireAsker(origin)
  try {
    checkGroup(body)
    return await transact(async () => {
      await requireCreator(creator)
      return insertGroup(body, creator, origin)
    })
  } catch (error) {
    const cause = takenPath(error)
    if (!(cause instanceof Invalid)) throw error
    throw new BadRequest(`Failed to save group ${JSON.stringify(cause.errors)}`, { cause })
  }
}

/** The lock lasts until the membership exists: if the user is deleted at the same time, no group without an owner remains. */
async function requireCreator({ id, admin }: Owner): Promise<void> {
  const found = await row<{ can_create_group: number }>(
    'select can_create_group from users where id = ? lock in share mode',
    [id]
  )
  if (!found || (!admin && found.can_create_group !== 1)) throw new Forbidden()
}

async function insertGroup(body: GroupBody, owner: Owner, origin: Origin): Promise<number> {
  const level = body.visibility_level ?? VISIBILITIES[(await applicationSettings()).default_group_visibility].level
  await checkGroupVisibility(level, owner)
  const now = new Date()
  const { insertId: id } = await execute(
    `insert into namespaces (kind, name, path, description, visibility_level, lfs_enabled, request_access_enabled,
       share_with_group_lock, created_at, updated_at) values ('group', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      body.name,
      body.path,
      body.description ?? '',
      level,
      body.lfs_enabled ?? true,
      body.request_access_enabled ?? false,
      body.share_with_group_lock ?? false,
      now,
      now
    ]
  )
  await takeNamespacePaths([body.path], { attribute: 'path', userId: owner.id })
  const group = await lockGroup(id)
  if (!group) throw new Error(`the row of the group ${id} was not found again`)
  await publish({ kind: 'group.created', group: groupSnapshot(group) })
  const after = { ...body, visibility_level: level }
  const target = { type: 'group', id, name: group.path }
  await audit(origin, { action: 'group.create', target, changes: changesBetween(null, after) })
  await becomeMember(sourceOfGroup(group), { userId: owner.id, level: OWNER, expiresAt: null }, origin)
  return id
}
