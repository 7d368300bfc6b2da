// The level of a user in a project ("Permissions"): the highest of the membership in the project, the membership in the group
// that owns it, and the memberships in groups that it is shared with, each up to the level of the share. Reads, lists and counts
// all use these fragments.
//
// A membership or share counts up to the day before `expires_at`; a daily task removes its row later. The fragments name a
// project `p`. The levels are computed and not stored: with 100k projects the database takes 150 us for one project (90 us with
// only the direct membership) and 380 us for 20 (270 us). Statements leave the levels out where they are known otherwise:
// administrators have every level, and the list of a member's projects starts from the levels.
import { type Fragment, marks, padded, rows, type Value } from '../db/connect/sql.js'
import { DEVELOPER, GUEST, INTERNAL, type Level, OWNER, PUBLIC, REPORTER } from '../lib/levels.js'
import type { Actor } from './actor.js'

export type { Fragment } from '../db/connect/sql.js'

/** Returns the condition that a membership or share is still valid today, for the row with this alias. */
export const lasts = (row: string) => `(${row}.expires_at is null or ${row}.expires_at > utc_date())`

const sharedLevel = (user: string) => `(select max(least(l.group_access, s.access_level)) from project_group_links l
  join members s on s.source_type = 'namespace' and s.source_id = l.group_id and s.user_id = ${user} and ${lasts('s')}
  where l.project_id = p.id and ${lasts('l')})`

// Most projects have no shares, and `has_shares` says so: the database then does not search for them.
const effectiveLevel = (user: string) => `cast(nullif(greatest(coalesce(m.access_level, 0), coalesce(g.access_level, 0),
  if(p.has_shares, coalesce(${sharedLevel(user)}, 0), 0)), 0) as unsigned)`

/** The level without shares. The database plans a search for shares even where `has_shares` is false, which takes 80 us. */
const OWN_LEVEL = 'cast(nullif(greatest(coalesce(m.access_level, 0), coalesce(g.access_level, 0)), 0) as unsigned)'
const LEVEL_WITHOUT_SHARES = `${OWN_LEVEL} as access_level`

/** The parts of a statement that reads the levels of a caller in each project `p`. */
export interface Membership {
  /** `access_level`, the effective level; with `withoutShares`, only once `countShares` has added the shares. */
  readonly columns: string
  readonly withoutShares?: true
  /** More columns after `columns`, for the field `permissions` of the record. */
  readonly shown: string
  /** They come after `p` and add no rows. */
  readonly joins: string
  /** The values of a statement `select COLUMNS from (a part with `before`) JOINS (a part with `after`)`. */
  readonly values: (asker: Value, before: readonly Value[], after: readonly Value[]) => Value[]
}

/** The notification level that a member chose. `permissions` shows it only to members, so that other rows cost no look-up. */
const notified = (
  type: 'Project' | 'Group',
  { member, user, source }: { member: string; user: string; source: string }
) =>
  `if(${member} is null, null, (select s.level from notification_settings s
    where s.user_id = ${user} and s.source_type = '${type}' and s.source_id = ${source}))`

const NO_NOTIFICATIONS = 'null as project_notification_level, null as group_notification_level'
const SHOWN_LEVELS = 'm.access_level as project_access_level, g.access_level as group_access_level'
const SHOWN = `${SHOWN_LEVELS},
  ${notified('Project', { member: 'm.user_id', user: 'm.user_id', source: 'p.id' })} as project_notification_level,
  ${notified('Group', { member: 'g.user_id', user: 'g.user_id', source: 'p.namespace_id' })} as group_notification_level`
const NOTHING_SHOWN = `null as project_access_level, null as group_access_level, ${NO_NOTIFICATIONS}`

const joinsOf = (user: string) => `left join members m
    on m.source_type = 'project' and m.source_id = p.id and m.user_id = ${user} and ${lasts('m')}
  left join members g
    on g.source_type = 'namespace' and g.source_id = p.namespace_id and g.user_id = ${user} and ${lasts('g')}`
const JOINS = joinsOf('?')

/** The effective level of each user `u` in the project `p`, for a statement about many users. */
export const LEVEL_OF_EACH = { column: `${effectiveLevel('u.id')} as access_level`, joins: joinsOf('u.id') }

/**
 * Returns the effective level in the project `p` of the user in a column such as `t.user_id`: for a statement that
 * starts from few rows, with two look-ups for each. `visibleProjects` starts from all memberships instead. Null without
 * a level; the owner of a namespace has no row. `ownLevel` is the level without shares.
 */
export const levelBy = (user: string) => ({ level: effectiveLevel(user), ownLevel: OWN_LEVEL, joins: joinsOf(user) })

/**
 * Returns each kind of access to one project with at least this level, as `user_id`; with `user`, only for the user in
 * this column, such as `u.id`.
 */
function waysInto(projectId: number, least: Level = GUEST, user?: string) {
  const of = (column: string) => (user === undefined ? '' : ` and ${column} = ${user}`)
  const from = (level: string) => (least === GUEST ? '' : ` and ${level} >= ${least}`)
  const way = (sql: string): Fragment => ({ sql, values: [projectId] })
  return {
    member: way(`select d.user_id from members d where d.source_type = 'project' and d.source_id = ?
      and ${lasts('d')}${from('d.access_level')}${of('d.user_id')}`),
    group:
      way(`select r.user_id from projects q join members r on r.source_type = 'namespace' and r.source_id = q.namespace_id
      where q.id = ? and ${lasts('r')}${from('r.access_level')}${of('r.user_id')}`),
    share: way(`select s.user_id from project_group_links l
      join members s on s.source_type = 'namespace' and s.source_id = l.group_id where l.project_id = ?
      and ${lasts('s')} and ${lasts('l')}${from('least(l.group_access, s.access_level)')}${of('s.user_id')}`),
    owner: way(`select o.owner_id from projects q join namespaces o on o.id = q.namespace_id
      where q.id = ? and o.owner_id is not null${of('o.owner_id')}`)
  }
}

/**
 * Returns the members of one project with at least this level as `user_id`: its own members, those of its group, and those of groups
 * that it is shared with.
 */
export function membersOfProject(projectId: number, least: Level = GUEST): Fragment {
  const ways = Object.values(waysInto(projectId, least))
  return { sql: ways.map(({ sql }) => sql).join('\n union all '), values: ways.flatMap(({ values }) => values) }
}

export const NOBODY: Membership = {
  columns: 'null as access_level',
  shown: NOTHING_SHOWN,
  joins: '',
  values: (_, before, after) => [...before, ...after]
}

const USER: Membership = {
  columns: LEVEL_WITHOUT_SHARES,
  withoutShares: true,
  shown: SHOWN,
  joins: JOINS,
  values: (asker, before, after) => [...before, asker, asker, ...after]
}

/** The caller is a user who is a member of projects, and of no group. */
export const DIRECT: Membership = {
  columns: 'm.access_level',
  shown: `m.access_level as project_access_level, null as group_access_level,
    ${notified('Project', { member: 'm.user_id', user: 'm.user_id', source: 'p.id' })} as project_notification_level,
    null as group_notification_level`,
  joins: `left join members m
    on m.source_type = 'project' and m.source_id = p.id and m.user_id = ? and ${lasts('m')}`,
  values: (asker, before, after) => [...before, asker, ...after]
}

/** Reads no effective level, because `levelIn` gives administrators the level of an owner anyway. */
const ADMINISTRATOR: Membership = {
  columns: 'null as access_level',
  shown: SHOWN,
  joins: JOINS,
  values: (asker, before, after) => [...before, asker, asker, ...after]
}

/** The caller is the fingerprint of a deploy key. Several records may have it, and the highest level counts. */
const DEPLOY_KEY: Membership = {
  columns: `cast((select max(if(k.can_push, ${DEVELOPER}, ${REPORTER})) from deploy_keys k
      join deploy_key_projects l on l.deploy_key_id = k.id
      where k.fingerprint = ? and l.project_id = p.id) as unsigned) as access_level`,
  shown: NOTHING_SHOWN,
  joins: '',
  values: (asker, before, after) => [asker, ...before, ...after]
}

/** The caller is the user `u` of the statement. */
export const OF_USER: Membership = {
  columns: LEVEL_WITHOUT_SHARES,
  withoutShares: true,
  shown: SHOWN,
  joins: joinsOf('u.id'),
  values: (_, before, after) => [...before, ...after]
}

export const MEMBERSHIPS: readonly Membership[] = [NOBODY, USER, ADMINISTRATOR, DEPLOY_KEY]

/** Returns the cheapest of MEMBERSHIPS that has what `authorize` needs for this actor. */
export const accessOf = (actor: Actor): Membership => (actor.user?.admin ? NOBODY : membershipOf(actor))

/** Returns the one of MEMBERSHIPS that also has what the record shows to this actor. */
export function membershipOf({ user, deployKey }: Actor): Membership {
  if (!user) return deployKey === undefined ? NOBODY : DEPLOY_KEY
  return user.admin ? ADMINISTRATOR : USER
}

interface Levelled {
  readonly id: number
  readonly has_shares: number
  readonly access_level: number | null
}

/** Raises the levels of a user in rows that were read `withoutShares`. Without shares, this sends no statement. */
export async function countShares(userId: number, found: readonly Levelled[]): Promise<void> {
  const shared = padded(found.filter(({ has_shares: has }) => has === 1).map(({ id }) => id))
  if (shared.length === 0) return
  const levels = await rows<{ id: number; level: number }>(
    `select l.project_id as id, max(least(l.group_access, s.access_level)) as level
     from project_group_links l join members s on s.source_type = 'namespace' and s.source_id = l.group_id and s.user_id = ?
     where l.project_id in (${marks(shared)}) and ${lasts('s')} and ${lasts('l')} group by l.project_id`,
    [userId, ...shared]
  )
  const levelOf = new Map(levels.map(({ id, level }) => [id, level]))
  for (const row of found) {
    const level = Math.max(row.access_level ?? 0, levelOf.get(row.id) ?? 0)
    if (level > 0) Object.assign(row, { access_level: level })
  }
}

const DIRECTLY = `select d.source_id as id from members d
  where d.source_type = 'project' and d.user_id = ? and ${lasts('d')}`
const GROUPS = `select r.source_id as id from members r
  where r.source_type = 'namespace' and r.user_id = ? and ${lasts('r')}`
const SHARED = `select l.project_id as id from members s join project_group_links l on l.group_id = s.source_id
  where s.source_type = 'namespace' and s.user_id = ? and ${lasts('s')} and ${lasts('l')}`
const OWN_NAMESPACE = 'select o.id from namespaces o where o.owner_id = ?'

/**
 * Returns the projects of a user's memberships, as a table of `id`, `level` and LEVELS: one row for each access to a
 * project, so a statement groups them by project with HIGHEST. It starts from the memberships of the user and takes 0.2
 * ms; conditions joined by OR examined every project and took 20 ms with 100k projects.
 */
export const projectsOfMember = (userId: number): Fragment => ({
  sql: `select d.source_id as id, d.access_level as level, d.access_level as project_access_level,
      null as group_access_level
    from members d where d.source_type = 'project' and d.user_id = ? and ${lasts('d')}
    union all select q.id, r.access_level, null, r.access_level
    from members r join projects q on q.namespace_id = r.source_id
    where r.source_type = 'namespace' and r.user_id = ? and ${lasts('r')}
    union all select l.project_id, least(l.group_access, s.access_level), null, null
    from members s join project_group_links l on l.group_id = s.source_id
    where s.source_type = 'namespace' and s.user_id = ? and ${lasts('s')} and ${lasts('l')}
    union all select q.id, ${OWNER}, null, null
    from namespaces o join projects q on q.namespace_id = o.id where o.owner_id = ?`,
  values: [userId, userId, userId, userId]
})

const LEVELS = ['project_access_level', 'group_access_level']

/** The columns of a statement that groups the rows `mine` of `projectsOfMember`. A page with them needs no more joins. */
export const HIGHEST = `cast(max(mine.level) as unsigned) as access_level,
  ${LEVELS.map(level => `cast(max(mine.${level}) as unsigned) as ${level}`).join(', ')}`

const PAGE_LEVELS = LEVELS.map(level => `page.${level}`).join(', ')

/** For a statement whose part `page` has the columns HIGHEST. */
export const OF_PAGE: Membership = {
  columns: 'page.access_level',
  shown: `${PAGE_LEVELS}, ${notified('Project', { member: 'page.project_access_level', user: '?', source: 'p.id' })} as project_notification_level,
    ${notified('Group', { member: 'page.group_access_level', user: '?', source: 'p.namespace_id' })} as group_notification_level`,
  joins: '',
  values: (asker, before, after) => [asker, asker, ...before, ...after]
}

const QUIET: ReadonlyMap<Membership, Membership> = new Map([
  [
    DIRECT,
    { ...DIRECT, shown: `m.access_level as project_access_level, null as group_access_level, ${NO_NOTIFICATIONS}` }
  ],
  [USER, { ...USER, shown: `${SHOWN_LEVELS}, ${NO_NOTIFICATIONS}` }],
  [ADMINISTRATOR, { ...ADMINISTRATOR, shown: `${SHOWN_LEVELS}, ${NO_NOTIFICATIONS}` }],
  [OF_PAGE, { ...OF_PAGE, shown: `${PAGE_LEVELS}, ${NO_NOTIFICATIONS}`, values: NOBODY.values }]
])

/** Returns the same for a caller who has chosen a notification level nowhere: the database then does not search for them. */
export const withoutNotifications = (membership: Membership): Membership => QUIET.get(membership) ?? membership

/** Returns the visibility levels that open a project to this user without a membership. */
export const openLevels = ({ external }: { readonly external: boolean }): readonly number[] =>
  external ? [PUBLIC] : [INTERNAL, PUBLIC]

/**
 * Returns the condition that the caller may see the project `p`; with `least`, that it is open to the caller without a
 * membership, or that the caller has this level.
 */
export function visibleProjects({ user }: Actor, least: Level = GUEST): Fragment {
  if (user?.admin) return { sql: '1 = 1', values: [] }
  if (!user) return { sql: `p.visibility_level = ${PUBLIC}`, values: [] }
  const from = (level: string) => (least === GUEST ? '' : ` and ${level} >= ${least}`)
  return {
    sql: `(p.visibility_level in (${openLevels(user).join(', ')}) or p.id in (${DIRECTLY}${from('d.access_level')})
      or p.namespace_id in (${GROUPS}${from('r.access_level')})
      or p.id in (${SHARED}${from('least(l.group_access, s.access_level)')}) or p.namespace_id in (${OWN_NAMESPACE}))`,
    values: [user.id, user.id, user.id, user.id]
  }
}

/** The facts that decide who sees a project. */
export interface SeenProject {
  readonly id: number
  readonly visibility_level: number
  readonly has_shares: number
}

/** Returns the condition that the user `u` has at least this level in a project. For many users and one project. */
export function usersWithLevel({ id, has_shares: hasShares }: SeenProject, least: Level): Fragment {
  const { share, ...others } = waysInto(id, least, 'u.id')
  const ways = [...Object.values(others), ...(hasShares === 1 ? [share] : [])]
  return {
    sql: `(u.admin or ${ways.map(({ sql }) => `exists (${sql})`).join(' or ')})`,
    values: ways.flatMap(({ values }) => values)
  }
}

/**
 * Returns the condition that the user `u` may see a project; with `least`, that it is open to the user without a
 * membership, or that the user has this level.
 */
export function usersWhoSee(project: SeenProject, least: Level = GUEST): Fragment {
  if (project.visibility_level === PUBLIC) return { sql: 'true', values: [] }
  const { sql, values } = usersWithLevel(project, least)
  return { sql: project.visibility_level === INTERNAL ? `(not u.external or ${sql})` : sql, values }
}

/** Returns the namespaces whose projects the user owns, as a table of `id`: the user's own, and the groups that the user owns. */
export const ownedNamespaces = (userId: number): Fragment => ({
  sql: `${OWN_NAMESPACE} union all ${GROUPS} and r.access_level = ${OWNER}`,
  values: [userId, userId]
})

/** Returns the join that reads the caller's level in a group `n` as `m.access_level`. */
export const groupMembership = (userId: number): Fragment => ({
  sql: `left join members m on m.source_type = 'namespace' and m.source_id = n.id and m.user_id = ? and ${lasts('m')}`,
  values: [userId]
})

/** Returns the condition that the caller is a member of the group `n`. */
export const groupsOfMember = ({ user }: Actor): Fragment => ({ sql: `n.id in (${GROUPS})`, values: [user?.id ?? 0] })

/** Returns the condition that the caller is an owner of the group `n`. */
export const ownedGroups = ({ user }: Actor): Fragment => ({
  sql: `n.id in (${GROUPS} and r.access_level = ${OWNER})`,
  values: [user?.id ?? 0]
})

/** Returns the condition that the caller may see the group `n`, if only because of one of its projects. */
export function visibleGroups(actor: Actor): Fragment {
  const { user } = actor
  if (user?.admin) return { sql: '1 = 1', values: [] }
  const open = user && !user.external ? [INTERNAL, PUBLIC] : [PUBLIC]
  const member = groupsOfMember(actor)
  const projects = visibleProjects(actor)
  return {
    sql: `(n.visibility_level in (${open.join(', ')}) or ${member.sql}
      or exists (select 1 from projects p where p.namespace_id = n.id and ${projects.sql}))`,
    values: [...member.values, ...projects.values]
  }
}
