// The level that a user has in a project ("Permissions"): the highest of the membership in the project, the membership
// in the group that owns it, and the memberships in groups that it is shared with, each up to the level of the share.
// Reads, lists and counts all use these fragments.
//
// A membership or share counts up to the day before `expires_at`; a daily task removes its row later. The fragments
// name a project `p`. With 100k projects and 20k members the database takes 150 us for one project (90 us with the
// direct membership alone) and 380 us for 20 (270 us): the difference is too small to keep the levels in a table of
// their own.
import type { Value } from '../db/sql.js'
import { INTERNAL, PUBLIC } from '../lib/levels.js'
import type { Actor } from './actor.js'

/** A part of a statement with the values of its placeholders. */
export interface Fragment {
  readonly sql: string
  readonly values: readonly Value[]
}

const lasts = (row: string) => `(${row}.expires_at is null or ${row}.expires_at > utc_date())`

const SHARED_LEVEL = `(select max(least(l.group_access, s.access_level)) from project_group_links l
  join members s on s.source_type = 'namespace' and s.source_id = l.group_id and s.user_id = ? and ${lasts('s')}
  where l.project_id = p.id and ${lasts('l')})`

/** The asker's effective level as `access_level`, and the two levels that `permissions` in the requirement shows. */
export const MEMBERSHIP_COLUMNS = `m.access_level as project_access_level,
  m.notification_level as project_notification_level, g.access_level as group_access_level,
  g.notification_level as group_notification_level,
  cast(nullif(greatest(coalesce(m.access_level, 0), coalesce(g.access_level, 0), coalesce(${SHARED_LEVEL}, 0)), 0)
    as unsigned) as access_level`

/** The joins that MEMBERSHIP_COLUMNS needs. They come after `p` and add no rows. */
export const MEMBERSHIP_JOINS = `left join members m on m.source_type = 'project' and m.source_id = p.id and m.user_id = ?
    and ${lasts('m')}
  left join members g on g.source_type = 'namespace' and g.source_id = p.namespace_id and g.user_id = ? and ${lasts('g')}`

/** The values of a statement `select COLUMNS from (a part with `before`) JOINS (a part with `after`)`. */
export const withMembership = (asker: number, before: readonly Value[], after: readonly Value[] = []): Value[] => [
  asker,
  ...before,
  asker,
  asker,
  ...after
]

const DIRECTLY = `select d.source_id as id from members d
  where d.source_type = 'project' and d.user_id = ? and ${lasts('d')}`
const GROUPS = `select r.source_id as id from members r
  where r.source_type = 'namespace' and r.user_id = ? and ${lasts('r')}`
const SHARED = `select l.project_id as id from members s join project_group_links l on l.group_id = s.source_id
  where s.source_type = 'namespace' and s.user_id = ? and ${lasts('s')} and ${lasts('l')}`
const OWN_NAMESPACE = 'select o.id from namespaces o where o.owner_id = ?'

/**
 * The ids of all projects in which a user has a level, as a table. It starts from the memberships of the user and takes
 * 0.2 ms; conditions joined by OR looked at every project and took 20 ms with 100k projects.
 */
export const projectsOfMember = (userId: number): Fragment => ({
  sql: `${DIRECTLY} union select q.id from projects q where q.namespace_id in (${GROUPS}) union ${SHARED}
    union select q.id from projects q where q.namespace_id in (${OWN_NAMESPACE})`,
  values: [userId, userId, userId, userId]
})

/** The condition that the asker may see the project `p`. */
export function visibleProjects({ user }: Actor): Fragment {
  if (user?.admin) return { sql: '1 = 1', values: [] }
  if (!user) return { sql: `p.visibility_level = ${PUBLIC}`, values: [] }
  const open = user.external ? [PUBLIC] : [INTERNAL, PUBLIC]
  return {
    sql: `(p.visibility_level in (${open.join(', ')}) or p.id in (${DIRECTLY}) or p.namespace_id in (${GROUPS})
      or p.id in (${SHARED}) or p.namespace_id in (${OWN_NAMESPACE}))`,
    values: [user.id, user.id, user.id, user.id]
  }
}

/** The condition that the project `p` lies in the namespace of the user. */
export const ownProjects = (userId: number): Fragment => ({
  sql: `p.namespace_id in (${OWN_NAMESPACE})`,
  values: [userId]
})

/** The join that gives the asker's level in a group `n` as `m.access_level`. */
export const groupMembership = (userId: number): Fragment => ({
  sql: `left join members m on m.source_type = 'namespace' and m.source_id = n.id and m.user_id = ? and ${lasts('m')}`,
  values: [userId]
})
