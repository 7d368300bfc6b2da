// Hot reads of projects. One statement reads everything that the access rules and git need, and most requests need no more; the
// record of a project shows what takes as long again.
import { type Actor, nobody } from '../../access/actor.js'
import { PREFIXED_ACTOR_USER, type PrefixedActorUser, withoutPrefix } from '../../access/actor-user.js'
import {
  type Fragment,
  HIGHEST,
  lasts,
  MEMBERSHIPS,
  type Membership,
  membershipOf,
  OF_PAGE,
  OF_USER,
  openLevels,
  ownedNamespaces,
  projectsOfMember,
  visibleProjects
} from '../../access/membership.js'
import { contains } from '../../db/conditions.js'
import { countTotal, type Page, readingOf, window } from '../../db/paginate.js'
import { marks, padded, row, rows, type Value } from '../../db/sql.js'
import { NoSuch } from '../../errors.js'
import { visibilityOf } from '../../lib/levels.js'
import { actorOfRow, TOKEN, type TokenRow, tokenValues } from '../credentials/credentials.js'
import { projectOfOldPath } from '../paths/redirects.js'
import type { ProjectListQuery } from './projects.schema.js'

export interface ProjectRow {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly description: string | null
  readonly default_branch: string | null
  readonly storage: string
  readonly visibility_level: number
  readonly archived: number
  readonly issues_enabled: number
  readonly merge_requests_enabled: number
  readonly builds_enabled: number
  readonly wiki_enabled: number
  readonly snippets_enabled: number
  readonly container_registry_enabled: number
  readonly lfs_enabled: number
  readonly shared_runners_enabled: number
  readonly public_builds: number
  readonly request_access_enabled: number
  readonly only_allow_merge_if_build_succeeds: number
  readonly only_allow_merge_if_all_discussions_are_resolved: number
  readonly tag_list: string
  readonly star_count: number
  readonly forks_count: number
  readonly creator_id: number | null
  readonly runners_token_encrypted: Buffer
  /** `waiting` until a job has filled the repository of a fork or an import, `failed` when it could not; else null. */
  readonly import_state: 'waiting' | 'failed' | null
  readonly import_error: string | null
  /** Whether it may be a fork, and shared with groups: false for most projects, whose records need no more statements. */
  readonly is_fork: number
  readonly has_shares: number
  readonly last_activity_at: Date
  readonly created_at: Date
  readonly namespace_id: number
  readonly namespace_kind: 'user' | 'group'
  readonly namespace_name: string
  readonly namespace_path: string
  readonly namespace_owner_id: number | null
  readonly namespace_description: string
  readonly namespace_avatar: string | null
  readonly namespace_share_with_group_lock: number
  readonly namespace_visibility_level: number
  readonly namespace_created_at: Date
  readonly namespace_updated_at: Date
  readonly owner_name: string | null
  readonly owner_username: string | null
  readonly owner_state: string | null
  readonly owner_created_at: Date | null
  /** The asker's effective level; null when the asker has none. */
  readonly access_level: number | null
  readonly project_access_level: number | null
  readonly group_access_level: number | null
}

/** A project with what only its record shows. */
export interface ShownProjectRow extends ProjectRow {
  readonly open_issues_count: number
  /** Null when the asker is no member, or has set nothing. */
  readonly project_notification_level: number | null
  readonly group_notification_level: number | null
}

const OPEN_ISSUES = `(select cast(coalesce(sum(c.opened), 0) as signed) from issue_counts c where c.project_id = p.id) as open_issues_count`
const COLUMNS = `p.id, p.name, p.path, p.description, p.default_branch, p.storage, p.visibility_level, p.archived,
  p.issues_enabled, p.merge_requests_enabled, p.builds_enabled, p.wiki_enabled, p.snippets_enabled,
  p.container_registry_enabled, p.lfs_enabled, p.shared_runners_enabled, p.public_builds, p.request_access_enabled,
  p.only_allow_merge_if_build_succeeds, p.only_allow_merge_if_all_discussions_are_resolved, p.tag_list, p.star_count,
  p.forks_count, p.creator_id, p.runners_token_encrypted, p.last_activity_at, p.created_at,
  p.import_state, p.import_error, p.is_fork, p.has_shares, p.namespace_id, n.kind as namespace_kind, n.name as namespace_name, n.path as namespace_path,
  n.owner_id as namespace_owner_id, n.description as namespace_description, n.avatar as namespace_avatar,
  n.share_with_group_lock as namespace_share_with_group_lock, n.visibility_level as namespace_visibility_level,
  n.created_at as namespace_created_at, n.updated_at as namespace_updated_at,
  o.name as owner_name, o.username as owner_username, o.state as owner_state, o.created_at as owner_created_at`
// All joins are LEFT JOIN: with an inner join of namespaces the list sorted the whole join, in 82 ms instead of 0.1.
const JOINS = `left join namespaces n on n.id = p.namespace_id
  left join users o on o.id = n.owner_id`

const idOf = ({ user }: Actor) => user?.id ?? 0
/** The first value of the parts of a statement for an asker. */
const askerOf = (actor: Actor): Value => actor.deployKey ?? idOf(actor)
const select = ({ columns, joins }: Membership, from: string, more = '') =>
  `select ${COLUMNS}, ${columns}${more} from ${from} ${JOINS} ${joins}`
const selectShown = (membership: Membership, from: string, more = '') =>
  select(membership, from, `, ${OPEN_ISSUES}, ${membership.shown}${more}`)

/** The statement for each kind of asker. */
const forAskers = (make: (membership: Membership) => string): ReadonlyMap<Membership, string> =>
  new Map(MEMBERSHIPS.map(membership => [membership, make(membership)]))

interface Statements {
  readonly byId: ReadonlyMap<Membership, string>
  readonly byPath: ReadonlyMap<Membership, string>
}

const statementsWith = (start: typeof select): Statements => ({
  byId: forAskers(membership => `${start(membership, 'projects p')} where p.id = ?`),
  byPath: forAskers(
    membership =>
      `${start(membership, 'namespaces s join projects p on p.namespace_id = s.id')} where s.path_key = lower(?)
      and p.path_key = lower(?)`
  )
})
const FOUND = statementsWith(select)
const SHOWN = statementsWith(selectShown)

function statementOf(statements: ReadonlyMap<Membership, string>, actor: Actor, values: readonly Value[]): Fragment {
  const membership = membershipOf(actor)
  return { sql: statements.get(membership) ?? '', values: membership.values(askerOf(actor), [], values) }
}

/** The statement with which `findShownProject` reads a project by its id. */
export const shownProjectById = (id: number, actor: Actor): Fragment => statementOf(SHOWN.byId, actor, [id])

/**
 * A project by its id or NAMESPACE/PROJECT, with the asker's levels; undefined when the project does not exist.
 * Not specified: how an old path is answered. It stands for the project, whose own rules then decide who may see it.
 */
export const findProject = (id: string | number, actor: Actor): Promise<ProjectRow | undefined> =>
  find<ProjectRow>(FOUND, String(id), actor)

/** The same, with what its record shows. */
export const findShownProject = (id: string | number, actor: Actor): Promise<ShownProjectRow | undefined> =>
  find<ShownProjectRow>(SHOWN, String(id), actor)

async function find<T>({ byId, byPath }: Statements, text: string, actor: Actor): Promise<T | undefined> {
  const read = ({ sql, values }: Fragment) => row<T>(sql, values)
  if (/^\d{1,10}$/.test(text)) return read(statementOf(byId, actor, [Number(text)]))
  const [namespace, path, more] = text.split('/')
  if (!namespace || !path || more !== undefined) return undefined
  const found = await read(statementOf(byPath, actor, [namespace, path]))
  if (found) return found
  const moved = await projectOfOldPath(namespace, path)
  return moved === undefined ? undefined : read(statementOf(byId, actor, [moved]))
}

interface Asked {
  readonly actor: Actor
  readonly project: ProjectRow | undefined
}

const askedWith = (start: typeof select) =>
  `${start(OF_USER, `${TOKEN.from} left join projects p on p.id = ?`, `, ${TOKEN.columns}, ${PREFIXED_ACTOR_USER}`)} where ${TOKEN.where}`
const ASKED = askedWith(select)
const ASKED_SHOWN = askedWith(selectShown)

/**
 * The actor of a private or personal access token, and a project by its id with the levels of that actor: with one statement,
 * because most requests need both. With `shown` it is a ShownProjectRow. Null when the token opens nothing.
 */
export async function findAsked(token: string, id: number, { shown = false } = {}): Promise<Asked | null> {
  const found = await row<Omit<ProjectRow, 'id'> & { id: number | null } & TokenRow & PrefixedActorUser>(
    shown ? ASKED_SHOWN : ASKED,
    [id, ...tokenValues(token)]
  )
  if (!found) return null
  const project = found.id === null ? undefined : (found as ProjectRow)
  return { actor: actorOfRow(found, withoutPrefix(found)), project }
}

/** The project that a sysadmin names by its id or path, also an old one. Throws NoSuch. */
export async function requireProject(name: string): Promise<ProjectRow> {
  const found = await findProject(name, nobody)
  if (!found) throw new NoSuch('project', name)
  return found
}

/** Tells whether a path of a request (NAMESPACE/PROJECT) is an old path of the project that was found by it. */
export const isOldPath = (path: string, { namespace_path: namespace, path: name }: ProjectRow): boolean =>
  path.toLowerCase() !== `${namespace}/${name}`.toLowerCase()

/**
 * Prevents the removal of a project until the current transaction ends, so that rows of the project that the
 * transaction writes do not stay behind. Returns false when the project is gone.
 */
export const holdProject = async (id: number): Promise<boolean> =>
  (await row('select id from projects where id = ? lock in share mode', [id])) !== undefined

/** How many projects the detail of a group shows of each kind. The list of its projects has pages. */
const MOST_OF_GROUP = 500

/** Ids of the projects that the asker may see: those of a group, or those that are shared with it. The newest first. */
async function idsOfGroup(from: string, groupId: number, actor: Actor): Promise<number[]> {
  const visible = visibleProjects(actor)
  const found = await rows<{ id: number }>(
    `select p.id from ${from} and ${visible.sql} order by p.created_at desc, p.id desc limit ${MOST_OF_GROUP + 1}`,
    [groupId, ...visible.values]
  )
  return found.map(({ id }) => id)
}

/** The projects of a group and those that are shared with it, as far as the asker may see them. */
export async function projectsOfGroup(groupId: number, actor: Actor) {
  const [owned, shared] = await Promise.all([
    idsOfGroup('projects p where p.namespace_id = ?', groupId, actor),
    idsOfGroup(
      `project_group_links l join projects p on p.id = l.project_id
         where l.group_id = ? and ${lasts('l')}`,
      groupId,
      actor
    )
  ])
  const cut = Math.max(owned.length, shared.length) > MOST_OF_GROUP
  const [projects, sharedProjects] = [owned, shared].map(ids => ids.slice(0, MOST_OF_GROUP)) as [number[], number[]]
  const found = await findProjects([...projects, ...sharedProjects], actor)
  const read = (ids: number[]) => ids.flatMap(id => found.get(id) ?? [])
  return { projects: read(projects), shared: read(sharedProjects), cut }
}

/** Projects by their ids, with the asker's levels. */
async function findProjects(ids: readonly number[], actor: Actor): Promise<ReadonlyMap<number, ShownProjectRow>> {
  if (ids.length === 0) return new Map()
  const membership = membershipOf(actor)
  const listed = padded(ids)
  const found = await rows<ShownProjectRow>(
    `${selectShown(membership, 'projects p')} where p.id in (${marks(listed)})`,
    membership.values(idOf(actor), [], listed)
  )
  return new Map(found.map(project => [project.id, project]))
}

/** Which projects to list. `group` means the projects of this group that the asker may see. */
export type ProjectScope = 'member' | 'visible' | 'owned' | 'starred' | 'all' | { readonly group: number }

/**
 * A page of projects. Takes two statements for any length, only one for the scope `member`, and three for a far page of the
 * scope `visible`.
 */
export async function listProjects(
  scope: ProjectScope,
  query: ProjectListQuery,
  actor: Actor
): Promise<Page<ShownProjectRow>> {
  const { from, condition, values } = restrict(scope, query, actor)
  const part = window(query)
  const { page, perPage } = part
  const order = query.order_by === 'path' ? 'path_key' : (query.order_by ?? 'created_at')
  const direction = query.sort ?? 'desc'
  const { column, counted, rest } = countOf(scope, query, actor)
  const mine = scope === 'member'
  const counting = rest ? countTotal(rest.sql, rest.values) : Promise.resolve(0)
  const countOwn = () => countTotal(counted.sql, counted.values)
  // The page of a member sorts all projects of that member, whichever end is nearer.
  const reading = mine
    ? { direction, sql: part.sql }
    : await readingOf(part, direction, async () => (await counting) + (column ? await countOwn() : 0))
  // An index gives the ids of the page first; only their rows are joined. The order uses the columns of the page: with
  // those of the joined rows, all 20 went through a temporary table on the disk.
  const ids = `select p.id, p.${order} as place${mine ? `, ${HIGHEST}` : ''}${column ? `, ${column.sql} as counted` : ''}
    from ${from} where ${condition} ${mine ? `group by p.id, p.${order}` : ''}
    order by p.${order} ${reading.direction}, p.id ${reading.direction} ${reading.sql}`
  const membership = mine ? OF_PAGE : membershipOf(actor)
  const parts = `(${ids}) page join projects p on p.id = page.id`
  const find = rows<ShownProjectRow & { counted?: number }>(
    `${selectShown(membership, parts, column ? ', page.counted' : '')} order by page.place ${direction}, page.id ${direction}`,
    membership.values(idOf(actor), [...(column?.values ?? []), ...values], [])
  )
  const [items, others] = await Promise.all([find, counting])
  if (!column) return { items, total: others, page, perPage }
  // A page beyond the end has no row with the column.
  const own = items[0]?.counted ?? (page === 1 ? 0 : await countOwn())
  return { items, total: others + own, page, perPage }
}

/**
 * How the projects of a list are counted: by a column of its statement, by a statement of their own (`rest`), or in two
 * parts by both. `counted` is a statement that counts the same as the column.
 */
function countOf(scope: ProjectScope, query: ProjectListQuery, actor: Actor) {
  const { user } = actor
  const count = (what: string, { sql, values }: Fragment, among?: string, more: readonly Value[] = []): Fragment => {
    const found = filter(query, among)
    return {
      sql: `select count(${what}) as total from ${sql} where ${found.condition}`,
      values: [...values, ...more, ...found.values]
    }
  }
  if (scope === 'member') {
    // The page sorts all projects of a member, so its statement counts them; a separate count took as long again.
    const column: Fragment = { sql: 'count(*) over ()', values: [] }
    return { column, counted: count('distinct p.id', membersProjects(idOf(actor))) }
  }
  if (scope === 'visible' && user && !user.admin) {
    // One count of all that a user may see looked at 100,000 projects for each user. The open ones are the same for all
    // users, so that their count is cached for all; the others start from the memberships.
    const open = `p.visibility_level in (${openLevels(user).join(', ')})`
    const counted = count('distinct p.id', membersProjects(user.id), `not ${open}`)
    return { column: { ...counted, sql: `(${counted.sql})` }, counted, rest: count('*', ALL, open) }
  }
  const { from = ALL, among } = restrictTo(scope, actor)
  const rest = count('*', from, among?.sql, among?.values)
  return { counted: rest, rest }
}

/** The parts of a statement; `values` begins with the values of `from`. */
function restrict(scope: ProjectScope, query: ProjectListQuery, actor: Actor) {
  const { from = ALL, among } = restrictTo(scope, actor)
  const { condition, values } = filter(query, among?.sql)
  return { from: from.sql, condition, values: [...from.values, ...(among?.values ?? []), ...values] }
}

/** The condition of a list. The values of `among` come before its own. */
function filter(query: ProjectListQuery, among?: string) {
  const conditions = [...(among ? [among] : []), 'p.archived = ?']
  const values: Value[] = [query.archived ?? false]
  if (query.visibility) {
    conditions.push('p.visibility_level = ?')
    values.push(visibilityOf(query.visibility))
  }
  if (query.search) {
    const found = contains(['p.name', 'p.path', 'p.description'], query.search)
    conditions.push(found.sql)
    values.push(...found.values)
  }
  return { condition: conditions.join(' and '), values }
}

const ALL: Fragment = { sql: 'projects p', values: [] }

function membersProjects(userId: number): Fragment {
  const { sql, values } = projectsOfMember(userId)
  return { sql: `(${sql}) mine join projects p on p.id = mine.id`, values }
}

function ownersProjects(userId: number): Fragment {
  const { sql, values } = ownedNamespaces(userId)
  return { sql: `(${sql}) own join projects p on p.namespace_id = own.id`, values }
}

/** The tables in which a scope looks for projects, and its condition. */
function restrictTo(scope: ProjectScope, actor: Actor): { from?: Fragment; among?: Fragment } {
  if (scope === 'all') return {}
  if (scope === 'visible') return { among: visibleProjects(actor) }
  if (scope === 'owned') return { from: ownersProjects(idOf(actor)) }
  if (scope === 'member') return { from: membersProjects(idOf(actor)) }
  if (scope === 'starred') {
    const visible = visibleProjects(actor)
    return {
      from: {
        sql: '(select project_id from project_stars where user_id = ?) s join projects p on p.id = s.project_id',
        values: [idOf(actor)]
      },
      among: visible
    }
  }
  const visible = visibleProjects(actor)
  return { among: { sql: `p.namespace_id = ? and ${visible.sql}`, values: [scope.group, ...visible.values] } }
}
