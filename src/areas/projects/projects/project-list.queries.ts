// Lists of projects, of which the API shows a page at a time.
import type { Actor } from '../../../access/actor.js'
import {
  HIGHEST,
  lasts,
  membershipOf,
  OF_PAGE,
  openLevels,
  ownedNamespaces,
  projectsOfMember,
  visibleProjects
} from '../../../access/membership.js'
import { type Fragment, marks, padded, row, rows } from '../../../db/connect/sql.js'
import { and, below, contains, equals } from '../../../db/lists/conditions.js'
import { countTotal, type Page, readingOf, window } from '../../../db/lists/paginate.js'
import { type Candidates, candidatesOf, PROJECT_TEXTS } from '../../../db/lists/trigrams.js'
import { type VisibilityName, visibilityOf } from '../../../lib/levels.js'
import { readProjectRows, type ShownProjectRow, selectShownProjects } from './projects.queries.js'
import type { ProjectListQuery } from './projects.schema.js'

export interface ProjectFilter {
  /** The path of a user or group. Only for statements with its namespace `n`. */
  readonly namespace?: string
  readonly archived?: boolean
  readonly visibility?: VisibilityName
  /** Only projects without activity since this time. */
  readonly quietSince?: Date
  /** A part of the name, the path or the description. */
  readonly search?: string
}

/** Returns the condition of a filter. It starts from the index of the search, if that has the text. */
export async function conditionOf(filter: ProjectFilter): Promise<Fragment> {
  return and(withTrigrams(await candidatesFor(filter)), comparisonOf(filter))
}

const candidatesFor = async ({ search }: ProjectFilter): Promise<Candidates | undefined> =>
  search ? candidatesOf(PROJECT_TEXTS, search) : undefined

const withTrigrams = (candidates: Candidates | undefined): Fragment | undefined =>
  candidates && { sql: `p.id in (${candidates.ids.sql})`, values: candidates.ids.values }

/** The same condition, without an index for the search. */
const comparisonOf = ({ namespace, archived, visibility, quietSince, search }: ProjectFilter): Fragment =>
  and(
    namespace === undefined ? undefined : { sql: 'n.path_key = lower(?)', values: [namespace] },
    equals('p.archived', archived),
    equals('p.visibility_level', visibility && visibilityOf(visibility)),
    below('p.last_activity_at', quietSince),
    search ? contains(['p.name', 'p.path', 'p.description'], search) : undefined
  )

/** Which projects to list. `group` means the projects of this group that the caller may see. */
export type ProjectScope = 'member' | 'visible' | 'owned' | 'starred' | 'all' | { readonly group: number }

/** How a list finds its projects. */
interface Plan {
  /** The tables in which it looks for projects `p`. */
  readonly from: Fragment
  readonly among?: Fragment
  readonly total: (filter: Fragment) => Total
  /** The tables have a row with levels for each way in which the caller is a member of a project. */
  readonly hasLevels?: true
}

/** The total of a list: what the statement `rest` counts, and what a column of the page counts. */
interface Total {
  readonly rest?: Fragment
  readonly column?: Fragment
  /** A statement that counts the same as the column. */
  readonly own?: Fragment
}

const PROJECTS: Fragment = { sql: 'projects p', values: [] }
const ofMember = (id: number): Fragment => joined(projectsOfMember(id), 'mine', 'p.id')
const ofOwner = (id: number): Fragment => joined(ownedNamespaces(id), 'own', 'p.namespace_id')
const starredBy = (id: number): Fragment =>
  joined({ sql: 'select project_id as id from project_stars where user_id = ?', values: [id] }, 'starred', 'p.id')

const joined = ({ sql, values }: Fragment, name: string, column: string): Fragment => ({
  sql: `(${sql}) ${name} join projects p on ${column} = ${name}.id`,
  values
})

function count(what: string, from: Fragment, ...conditions: (Fragment | undefined)[]): Fragment {
  const { sql, values } = and(...conditions)
  return { sql: `select count(${what}) as total from ${from.sql} where ${sql}`, values: [...from.values, ...values] }
}

const byStatement = (from: Fragment, among?: Fragment): Plan => ({
  from,
  among,
  total: filter => ({ rest: count('*', from, among, filter) })
})

/** The page sorts all projects of a member, so its statement counts them; a separate count would double the time. */
const byPage = (from: Fragment): Plan => ({
  from,
  hasLevels: true,
  total: filter => ({
    column: { sql: 'count(*) over ()', values: [] },
    own: count('distinct p.id', from, filter)
  })
})

/**
 * One count of everything that a user may see looked at 100,000 projects for each user. The open projects are the same
 * for all users, so their count is cached for all; the others start from the memberships.
 */
function byBoth(user: NonNullable<Actor['user']>, among: Fragment): Plan {
  const open = `p.visibility_level in (${openLevels(user).join(', ')})`
  return {
    from: PROJECTS,
    among,
    total: filter => {
      const own = count('distinct p.id', ofMember(user.id), { sql: `not ${open}`, values: [] }, filter)
      const rest = count('*', PROJECTS, { sql: open, values: [] }, filter)
      return { rest, own, column: { ...own, sql: `(${own.sql})` } }
    }
  }
}

/**
 * The statement that reads a page of a search by the index also counts, because it reads all rows anyway. Along the order of
 * the list, another one counts, which concurrent requests share.
 */
const totalOfSearch = (own: Fragment, along: boolean): Total =>
  along ? { rest: own } : { own, column: { sql: 'count(*) over ()', values: [] } }

const PAGE = 20

/**
 * Returns whether a search finds so many projects that a page is filled sooner along the order of the list than from the index:
 * a page is full after `PAGE / candidates` of all projects, and the index reads each candidate, at twice the cost.
 */
const isAlongOrder = async ({ count: found }: Candidates): Promise<boolean> =>
  2 * found * found > PAGE * (await highestId())

let highest: { readonly at: number; readonly id: number } | undefined

/** Returns about the number of projects, as it was at most a minute ago. */
async function highestId(): Promise<number> {
  if (highest && performance.now() - highest.at < 60_000) return highest.id
  const id = (await row<{ id: number }>('select id from projects order by id desc limit 1'))?.id ?? 0
  highest = { at: performance.now(), id }
  return id
}

const idOf = ({ user }: Actor) => user?.id ?? 0

/** For each scope: the tables, the condition, and the way of counting. */
const PLANS: { readonly [Scope in Exclude<ProjectScope, object>]: (actor: Actor) => Plan } = {
  all: () => byStatement(PROJECTS),
  visible: actor => {
    const { user } = actor
    const among = visibleProjects(actor)
    return user && !user.admin ? byBoth(user, among) : byStatement(PROJECTS, among)
  },
  owned: actor => byStatement(ofOwner(idOf(actor))),
  starred: actor => byStatement(starredBy(idOf(actor)), visibleProjects(actor)),
  member: actor => byPage(ofMember(idOf(actor)))
}

const planOf = (scope: ProjectScope, actor: Actor): Plan =>
  typeof scope === 'string'
    ? PLANS[scope](actor)
    : byStatement(PROJECTS, and(equals('p.namespace_id', scope.group), visibleProjects(actor)))

/**
 * Returns a page of projects. Takes two statements for any length, only one for the scope `member`, and three for a far
 * page of the scope `visible`.
 */
export async function listProjects(
  scope: ProjectScope,
  query: ProjectListQuery,
  actor: Actor
): Promise<Page<ShownProjectRow>> {
  const { from, among, total, hasLevels } = planOf(scope, actor)
  const wanted = { archived: query.archived ?? false, visibility: query.visibility, search: query.search }
  const candidates = await candidatesFor(wanted)
  const comparison = comparisonOf(wanted)
  const found = and(withTrigrams(candidates), comparison)
  const along = candidates !== undefined && (await isAlongOrder(candidates))
  const filter = along ? comparison : found
  const { sql: condition, values } = and(among, filter)
  const { rest, own, column } =
    candidates && !hasLevels ? totalOfSearch(count('*', from, among, found), along) : total(filter)
  const part = window(query)
  const { page, perPage } = part
  const order = query.order_by === 'path' ? 'path_key' : (query.order_by ?? 'created_at')
  const direction = query.sort ?? 'desc'
  const counting = rest ? countTotal(rest.sql, rest.values) : Promise.resolve(0)
  const countOwn = async () => (own ? countTotal(own.sql, own.values) : 0)
  // The page of a member sorts all projects of that member, from either end.
  const reading = hasLevels
    ? { direction, sql: part.sql }
    : await readingOf(part, direction, async () => (await counting) + (await countOwn()))
  // An index provides the ids of the page first; only their rows are joined. The order uses the columns of the page:
  // with those of the joined rows, all 20 went through a temporary table on the disk.
  const ids = `select p.id, p.${order} as place${hasLevels ? `, ${HIGHEST}` : ''}${column ? `, ${column.sql} as counted` : ''}
    from ${from.sql} where ${condition} ${hasLevels ? `group by p.id, p.${order}` : ''}
    order by p.${order} ${reading.direction}, p.id ${reading.direction} ${reading.sql}`
  const membership = hasLevels ? OF_PAGE : membershipOf(actor)
  const parts = `(${ids}) page join projects p on p.id = page.id`
  const find = readProjectRows<ShownProjectRow & { counted?: number }>(
    {
      sql: `${selectShownProjects(membership, parts, column ? ', page.counted' : '')} order by page.place ${direction}, page.id ${direction}`,
      values: membership.values(idOf(actor), [...(column?.values ?? []), ...from.values, ...values], [])
    },
    membership,
    actor
  )
  const [items, others] = await Promise.all([find, counting])
  if (!column) return { items, total: others, page, perPage }
  // A page beyond the end has no row with the column.
  return { items, total: others + (items[0]?.counted ?? (page === 1 ? 0 : await countOwn())), page, perPage }
}

/** The maximum number of projects of each kind in the detail of a group. The list of its projects has pages. */
const MOST_OF_GROUP = 500

/** Returns the ids of the projects that the caller may see: those of a group, or those shared with it, newest first. */
async function idsOfGroup(from: string, groupId: number, actor: Actor): Promise<number[]> {
  const visible = visibleProjects(actor)
  const found = await rows<{ id: number }>(
    `select p.id from ${from} and ${visible.sql} order by p.created_at desc, p.id desc limit ${MOST_OF_GROUP + 1}`,
    [groupId, ...visible.values]
  )
  return found.map(({ id }) => id)
}

/** Returns the projects of a group and those shared with it, as far as the caller may see them. */
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

/** Returns projects by their ids, with the caller's levels. */
async function findProjects(ids: readonly number[], actor: Actor): Promise<ReadonlyMap<number, ShownProjectRow>> {
  if (ids.length === 0) return new Map()
  const membership = membershipOf(actor)
  const listed = padded(ids)
  const found = await readProjectRows<ShownProjectRow>(
    {
      sql: `${selectShownProjects(membership, 'projects p')} where p.id in (${marks(listed)})`,
      values: membership.values(idOf(actor), [], listed)
    },
    membership,
    actor
  )
  return new Map(found.map(project => [project.id, project]))
}
