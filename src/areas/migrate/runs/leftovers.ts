// What a run made for projects that did not come: groups without a project, which would be in the way of others, and placeholders without
// a record. Whatever somebody has used or changed since stays.
import type { Origin } from '../../../access/actor.js'
import { row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { likeText } from '../../../db/lists/conditions.js'
import { linksTo } from '../../../db/ownership/owned-tables.js'
import { lockGroup } from '../../people/groups/groups.queries.js'
import { deleteGroup } from '../../upkeep/removal/group-deletion.js'
import { deleteUser, deletionOf } from '../../upkeep/removal/user-deletion.js'
import { claimOf, disown } from './groups.js'
import { placeOf } from './migrations.js'
import { knownPeople, type PeopleHere } from './people.js'
import type { Session } from './session.js'

/** A later run looks at the others. */
const MOST_AT_ONCE = 10_000

/** `groups` are those of the source that the run has brought. */
export async function removeLeftovers(session: Session, groups: readonly string[]): Promise<void> {
  // Another migration of the source may be about to use them.
  if (await isSharedNow(session)) return
  for (const group of groups) await removeEmptyGroup(session, group)
  await removeIdlePlaceholders(session)
}

async function isSharedNow({ migration, place }: Session): Promise<boolean> {
  const busy = await rows<{ url: string }>(
    `select m.url from migrations m join maintenance_locks l on l.task = concat('migrate:', m.name)
     where m.id <> ? and l.lease_until >= now(3)`,
    [migration.id]
  )
  return busy.some(other => placeOf(other) === place)
}

async function removeEmptyGroup({ migration, place, origin }: Session, path: string): Promise<void> {
  const claim = await claimOf(migration, path)
  if (!claim) return
  const isGone = await transact(async () => {
    // A request that adds something to the group waits for this row.
    const group = claim.id === null ? null : await lockGroup(claim.id)
    if (!group) return true
    if (group.updated_at > group.created_at || !(await isUnused(group))) return false
    if (!(await hasItsMembers(group, await knownPeople(place, claim.members)))) return false
    await deleteGroup(group.id, origin)
    return true
  })
  if (isGone) await disown(migration, path)
}

/** Whether a group has nothing but members. */
async function isUnused({ id, path }: { readonly id: number; readonly path: string }): Promise<boolean> {
  for (const { table, link } of linksTo('namespaces')) {
    if (table === 'members') continue
    const when = link.when ? ` and ${link.when[0]} = '${link.when[1]}'` : ''
    if (await row(`select 1 from ${table} where ${link.column} = ?${when} limit 1`, [id])) return false
  }
  // An import into the group, which has no row of `projects` yet.
  const arriving = 'select 1 from project_removals where path_with_namespace like ? limit 1'
  return !(await row(arriving, [`${likeText(path)}/%`]))
}

/** Whether a group has the members whom the migration has added, as they came, and only these. */
async function hasItsMembers({ id }: { readonly id: number }, people: PeopleHere): Promise<boolean> {
  const missing = new Set(people.values())
  const found = await rows<{ username: string; admin: number; is_changed: number }>(
    `select u.username, u.admin, m.updated_at > m.created_at as is_changed from members m join users u on u.id = m.user_id
     where m.source_type = 'namespace' and m.source_id = ?`,
    [id]
  )
  // An administrator owns a group whose owners have no user here.
  const isAsBrought = found.every(each => (missing.delete(each.username) || each.admin === 1) && each.is_changed === 0)
  return isAsBrought && missing.size === 0
}

async function removeIdlePlaceholders({ place, origin, signal }: Session): Promise<void> {
  // The tables that most placeholders are in; the last look is at all.
  const used = [
    'members x where x.user_id',
    'issues x where x.author_id',
    'merge_requests x where x.author_id',
    'notes x where x.author_id',
    'participants x where x.user_id'
  ]
  const found = await rows<{ id: number }>(
    `select p.user_id as id from migrated_people p where p.source = ? and p.is_placeholder = true
       ${used.map(each => `and not exists (select 1 from ${each} = p.user_id)`).join(' ')}
     order by p.user_id limit ${MOST_AT_ONCE}`,
    [place]
  )
  for (const { id } of found) {
    signal.throwIfAborted()
    await removeIdle(id, origin)
  }
}

async function removeIdle(id: number, origin: Origin): Promise<void> {
  const { goes, stays, only_owner_of } = await deletionOf({ id })
  const { projects, migrated_people: _, ...records } = goes
  const isIdle = [...Object.values(records), ...Object.values(stays)].every(count => count === 0)
  if (isIdle && projects.length === 0 && only_owner_of.length === 0) await deleteUser(id, origin)
}
