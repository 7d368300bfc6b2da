// How far the memberships of a user reach. Most users are members of a few projects and of no group, and have chosen no notification
// levels. The database takes 0.3 to 0.4 ms only to plan its searches for groups and shares, and 0.1 ms for the levels of a page. A list
// of projects therefore assumes the reach that the user had at the last list. Its statement reads the reach as well: when it has grown,
// the list is read again, so that a new membership counts at once.
import type { Fragment } from '../db/connect/sql.js'
import { OWNER } from '../lib/levels.js'
import { lruOf } from '../lib/lru.js'
import type { Actor } from './actor.js'
import {
  DIRECT,
  lasts,
  type Membership,
  membershipOf,
  NOBODY,
  OF_PAGE,
  openLevels,
  ownedNamespaces,
  visibleProjects,
  withoutNotifications
} from './membership.js'

/** The sum of what a user has. */
export type Reach = number
/** Memberships. Those of groups may have shares. A user with them counts as a member of projects as well. */
const PROJECTS = 1
const GROUPS = 2
/** Chosen notification levels. */
const NOTIFIED = 4
const WHOLE: Reach = PROJECTS + GROUPS + NOTIFIED

const has = (reach: Reach, part: number): boolean => (reach & part) !== 0

/** The column `reach` of a user. */
export const reachOf = (userId: number): Fragment => ({
  sql: `((select case min(y.source_type) when 'namespace' then ${PROJECTS + GROUPS} when 'project' then ${PROJECTS} else 0 end
      from members y where y.user_id = ?)
    + if(exists (select 1 from notification_settings y where y.user_id = ?), ${NOTIFIED}, 0)) as reach`,
  values: [userId, userId]
})

const known = lruOf<string, Reach>(10_000)

interface Listed {
  readonly items: readonly { readonly reach?: Reach }[]
}

/**
 * Reads a page of a list with the reach that the user had the last time. Its items have the column of `reachOf`. A page without
 * items does not show the reach, so it is read again with the whole one.
 */
export async function withReach<T extends Listed>(
  list: string,
  userId: number,
  read: (reach: Reach) => Promise<T>
): Promise<T> {
  const key = `${userId} ${list}`
  const assumed = known.get(key) ?? WHOLE
  const page = await read(assumed).catch(error => {
    known.delete(key)
    throw error
  })
  const reach = page.items[0]?.reach
  if (reach === undefined) known.delete(key)
  else known.set(key, reach)
  const needed = reach ?? WHOLE
  return has(needed, ~assumed) ? read(needed) : page
}

/** Does the same as `membershipOf`, for a user with this reach. */
export function membershipWithin(reach: Reach, actor: Actor): Membership {
  if (!actor.user) return membershipOf(actor)
  return noticed(reach, has(reach, GROUPS) ? membershipOf(actor) : has(reach, PROJECTS) ? DIRECT : NOBODY)
}

/** Returns OF_PAGE for a user with this reach. */
export const pageWithin = (reach: Reach): Membership => noticed(reach, OF_PAGE)

const noticed = (reach: Reach, membership: Membership): Membership =>
  has(reach, NOTIFIED) ? membership : withoutNotifications(membership)

const OWN_NAMESPACE = "(select o.id from namespaces o where o.owner_id = ? and o.kind = 'user' limit 1)"

/** Where to look for the projects `p` that a user owns. */
export function ownedWithin(reach: Reach, userId: number): { readonly from: Fragment; readonly among?: Fragment } {
  // With one namespace, an index has its projects in the order of the list.
  if (!has(reach, GROUPS)) {
    const among = { sql: `p.namespace_id = ${OWN_NAMESPACE}`, values: [userId] }
    return { from: { sql: 'projects p', values: [] }, among }
  }
  const { sql, values } = ownedNamespaces(userId)
  return { from: { sql: `(${sql}) own join projects p on p.namespace_id = own.id`, values } }
}

/** Does the same as `visibleProjects`, for a user with this reach. */
export function visibleWithin(reach: Reach, actor: Actor): Fragment {
  const { user } = actor
  if (has(reach, GROUPS) || !user || user.admin) return visibleProjects(actor)
  const open = `p.visibility_level in (${openLevels(user).join(', ')})`
  const own = `p.namespace_id = ${OWN_NAMESPACE}`
  if (!has(reach, PROJECTS)) return { sql: `(${open} or ${own})`, values: [user.id] }
  const direct = `p.id in (select d.source_id from members d
    where d.source_type = 'project' and d.user_id = ? and ${lasts('d')})`
  return { sql: `(${open} or ${direct} or ${own})`, values: [user.id, user.id] }
}

/**
 * Returns the projects `p` of a user's memberships that meet a condition, as a table of `id`, `place`, `level` and the levels
 * that the record shows: one row for each access to a project. `place` is the column of this name.
 */
export function memberProjectsWithin(reach: Reach, userId: number, place: string, condition: Fragment): Fragment {
  const way = (levels: string, from: string): Fragment => ({
    sql: `select p.id, p.${place} as place, ${levels} from ${from} and ${condition.sql}`,
    values: [userId, ...condition.values]
  })
  const ways = [
    way(
      `${OWNER} as level, null as project_access_level, null as group_access_level`,
      'namespaces o join projects p on p.namespace_id = o.id where o.owner_id = ?'
    ),
    ...(has(reach, PROJECTS) ? [way('d.access_level, d.access_level, null', DIRECTLY)] : []),
    ...(has(reach, GROUPS)
      ? [
          way('r.access_level, null, r.access_level', BY_GROUP),
          way('least(l.group_access, s.access_level), null, null', BY_SHARE)
        ]
      : [])
  ]
  return { sql: ways.map(({ sql }) => sql).join('\n union all '), values: ways.flatMap(({ values }) => values) }
}

const DIRECTLY = `members d join projects p on p.id = d.source_id
  where d.source_type = 'project' and d.user_id = ? and ${lasts('d')}`
const BY_GROUP = `members r join projects p on p.namespace_id = r.source_id
  where r.source_type = 'namespace' and r.user_id = ? and ${lasts('r')}`
const BY_SHARE = `members s join project_group_links l on l.group_id = s.source_id join projects p on p.id = l.project_id
  where s.source_type = 'namespace' and s.user_id = ? and ${lasts('s')} and ${lasts('l')}`
