// Lists of projects, of which the API shows a page at a time.
import type { Actor } from '../../../access/actor.js'
import { HIGHEST, openLevels } from '../../../access/membership.js'
import {
  memberProjectsWithin,
  membershipWithin,
  ownedWithin,
  pageWithin,
  type Reach,
  reachOf,
  visibleWithin,
  withReach
} from '../../../access/reach.js'
import { type Fragment, row } from '../../../db/connect/sql.js'
import { and, below, contains, equals } from '../../../db/lists/conditions.js'
import {
  changeOfProjects,
  countProjects,
  isLargeTotal,
  noteTotal,
  partsOfProjects
} from '../../../db/lists/count-cache.js'
import { fromPlace, fromPlaceAmong, type Place } from '../../../db/lists/keyset-cache.js'
import {
  countTotal,
  type Direction,
  isFar,
  isFarFromStart,
  type Page,
  type PlacedReading,
  pageOfGrowing,
  type Reading,
  readingOf,
  type Window,
  window
} from '../../../db/lists/paginate.js'
import { type Candidates, candidatesOf, MOST_COUNTED, PROJECT_TEXTS } from '../../../db/lists/trigrams.js'
import { type VisibilityName, visibilityOf } from '../../../lib/levels.js'
import { type ListedProject, readListed, rowOf, selectListed } from './lists/kept-projects.queries.js'
import type { ShownProjectRow } from './projects.queries.js'
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
  /** Selects `id` and `place`, the column by which the list is sorted. `filter` replaces that of the list. */
  readonly ids: (place: string, more: readonly string[], filter?: Fragment) => Fragment
  /** The projects `p` of the list, unless the ids come from several statements. */
  readonly source?: Source
  readonly total: Total
  /** Counts the projects of the list that meet another condition. Without it, the total of a search is like any other. */
  readonly counting?: (found: Fragment) => Fragment
  /** The ids have the levels of the caller: the page sorts all projects of a member, from either end. */
  readonly hasLevels?: true
}

interface Source {
  readonly from: Fragment
  readonly where: Fragment
}

/** The total of a list: what `rest` or `projects` counts, and what a column of the page counts. */
interface Total {
  readonly rest?: Fragment
  /** Instead of `rest`: what the projects have to meet that are counted, by their own columns. */
  readonly projects?: Fragment
  readonly column?: Fragment
  /** A statement that counts the same as the column. */
  readonly own?: Fragment
}

/** What a plan depends on. */
interface Asked {
  readonly actor: Actor
  readonly reach: Reach
  readonly filter: Fragment
  readonly part: Window
}

const PROJECTS: Fragment = { sql: 'projects p', values: [] }
const starredBy = (id: number): Fragment => ({
  sql: '(select project_id as id from project_stars where user_id = ?) starred join projects p on p.id = starred.id',
  values: [id]
})

function select(columns: string, from: Fragment, condition: Fragment): Fragment {
  return {
    sql: `select ${columns} from ${from.sql} where ${condition.sql}`,
    values: [...from.values, ...condition.values]
  }
}

const idsIn =
  (from: Fragment, among: Fragment | undefined, filter: Fragment): Plan['ids'] =>
  (place, more, other = filter) =>
    select(['p.id', `p.${place} as place`, ...more].join(', '), from, and(among, other))

const COUNT = 'count(*) as total'
/** Counts the rows of a page before its limit. */
const COUNTED: Fragment = { sql: 'count(*) over ()', values: [] }

/** Returns a statement as a column of another one. */
const inside = ({ sql, values }: Fragment): Fragment => ({ sql: `(${sql})`, values })

function byStatement(from: Fragment, among: Fragment | undefined, filter: Fragment): Plan {
  const counting = (found: Fragment) => select(COUNT, from, and(among, found))
  const source = { from, where: and(among, filter) }
  return { ids: idsIn(from, among, filter), source, total: { rest: counting(filter) }, counting }
}

/**
 * Counts the different ids of a table. With `count(distinct mine.id)`, MariaDB refused every second execution of the statement when
 * the table was no union: it merged the table, and forgot that the statement counts (error 1140).
 */
const countDifferent = ({ sql, values }: Fragment): Fragment => ({
  sql: `select ${COUNT} from (select distinct mine.id from (${sql}) mine) different`,
  values
})

/** The page of a member sorts all projects, so it also counts them: a separate count would double the time. */
function ofMember({ actor, reach, filter }: Asked): Plan {
  const mine = (place: string) => memberProjectsWithin(reach, idOf(actor), place, filter)
  const all = mine('id')
  return {
    hasLevels: true,
    ids: (place, more) => {
      const { sql, values } = mine(place)
      const columns = ['mine.id', 'mine.place', HIGHEST, ...more].join(', ')
      return { sql: `select ${columns} from (${sql}) mine group by mine.id, mine.place`, values }
    },
    total: {
      column: COUNTED,
      own: countDifferent(all)
    }
  }
}

/** An index has the page of an owner. The statement counts all rows as well, unless they are many: then their number is cached. */
function ofOwner({ actor, reach, filter, part }: Asked): Plan {
  const { from, among } = ownedWithin(reach, idOf(actor))
  const plan = byStatement(from, among, filter)
  const own = plan.total.rest
  return !own || isFarFromStart(part) || isLargeTotal(own) ? plan : { ...plan, total: { own, column: inside(own) } }
}

/**
 * One count of everything that a user may see looked at 100,000 projects for each user. The open projects are the same
 * for all users, so their count is cached for all; the others start from the memberships.
 */
function visible({ actor, reach, filter }: Asked): Plan {
  const { user } = actor
  const plan = byStatement(PROJECTS, visibleWithin(reach, actor), filter)
  if (!user || user.admin) return plan
  const open = `p.visibility_level in (${openLevels(user).join(', ')})`
  const hidden = and({ sql: `not ${open}`, values: [] }, filter)
  const own = countDifferent(memberProjectsWithin(reach, user.id, 'id', hidden))
  const projects = and({ sql: open, values: [] }, filter)
  return { ...plan, total: { projects, own, column: inside(own) } }
}

/**
 * The statement that reads a page of a search by the index also counts, because it reads all rows anyway. Along the order of
 * the list, another one counts, which concurrent requests share.
 */
const totalOfSearch = (own: Fragment, along: boolean): Total => (along ? { rest: own } : { own, column: COUNTED })

const PAGE = 20

/**
 * Returns whether a search finds so many projects that a page is filled sooner along the order of the list than from the index:
 * a page is full after `PAGE / candidates` of all projects, and the index reads each candidate, at twice the cost.
 */
const isAlongOrder = async ({ count: found }: Candidates): Promise<boolean> =>
  found >= MOST_COUNTED || 2 * found * found > PAGE * (await highestId())

/** Returns whether the total is counted sooner by comparing all projects, one after another, than by looking up each candidate. */
const isCommon = async ({ count: found }: Candidates): Promise<boolean> =>
  found >= MOST_COUNTED || 4 * found > (await highestId())

let highest: { readonly at: number; readonly id: number } | undefined

/** Returns about the number of projects, as it was at most a minute ago. */
async function highestId(): Promise<number> {
  if (highest && performance.now() - highest.at < 60_000) return highest.id
  const id = (await row<{ id: number }>('select id from projects order by id desc limit 1'))?.id ?? 0
  highest = { at: performance.now(), id }
  return id
}

const idOf = ({ user }: Actor) => user?.id ?? 0

/** For each scope: how the list finds its projects, and how it counts them. */
const PLANS: { readonly [Scope in Exclude<ProjectScope, object>]: (asked: Asked) => Plan } = {
  all: ({ filter }) => ({ ...byStatement(PROJECTS, undefined, filter), total: { projects: filter } }),
  visible,
  owned: ofOwner,
  starred: ({ actor, reach, filter }) => byStatement(starredBy(idOf(actor)), visibleWithin(reach, actor), filter),
  member: ofMember
}

const planOf = (scope: ProjectScope, asked: Asked): Plan =>
  typeof scope === 'string'
    ? PLANS[scope](asked)
    : byStatement(
        PROJECTS,
        and(equals('p.namespace_id', scope.group), visibleWithin(asked.reach, asked.actor)),
        asked.filter
      )

/** What all projects of a list have, and the other conditions of its filter: for the lists that follow an index of all projects. */
interface Along {
  readonly archived: boolean
  readonly others: Fragment
}

/** What a page reads besides. */
interface OfPage {
  readonly reach?: Reach
  readonly counted?: number
  readonly young?: number
}

/** Pages up to this row are read along their index. */
const NEAR = 60

/** Returns a page of projects as rows. */
export async function listProjects(
  scope: ProjectScope,
  query: ProjectListQuery,
  actor: Actor
): Promise<Page<ShownProjectRow>> {
  const page = await pageOfProjects(scope, query, actor)
  return { ...page, items: page.items.map(rowOf) }
}

/**
 * Returns a page of projects. Takes two statements for any length, only one for the scopes `member` and `owned` and where the total is
 * large and known, and three for a far page of the scope `visible`; one more for projects whose rows are not kept.
 */
export async function pageOfProjects(
  scope: ProjectScope,
  query: ProjectListQuery,
  actor: Actor
): Promise<Page<ListedProject>> {
  const wanted = { archived: query.archived ?? false, visibility: query.visibility, search: query.search }
  const candidates = await candidatesFor(wanted)
  const comparison = comparisonOf(wanted)
  const found = and(withTrigrams(candidates), comparison)
  const along = candidates !== undefined && (await isAlongOrder(candidates))
  const filter = along ? comparison : found
  const counted = candidates && along && (await isCommon(candidates)) ? comparison : found
  const follows = (scope === 'all' || scope === 'visible') && !wanted.visibility && (along || !candidates)
  const index = follows ? { archived: wanted.archived, others: comparisonOf({ search: wanted.search }) } : undefined
  const part = window(query)
  const list = typeof scope === 'string' ? scope : 'group'
  return withReach(list, idOf(actor), reach => {
    const plan = planOf(scope, { actor, reach, filter, part })
    const total = candidates && plan.counting ? totalOfSearch(plan.counting(counted), along) : plan.total
    return readPage({ ...plan, total, index }, query, actor, reach)
  })
}

async function readPage(
  { ids: idsBy, source, total, hasLevels, index }: Plan & { readonly index?: Along },
  query: ProjectListQuery,
  actor: Actor,
  reach: Reach
): Promise<Page<ListedProject & OfPage>> {
  const { rest, projects, own, column: counter } = total
  const part = window(query)
  const { page, perPage } = part
  const place = query.order_by === 'path' ? 'path_key' : (query.order_by ?? 'created_at')
  const direction = query.sort ?? 'desc'
  const countOthers = async () => (projects ? countProjects(projects) : rest ? countTotal(rest.sql, rest.values) : 0)
  const countOwn = async () => (own ? countTotal(own.sql, own.values) : 0)
  const isGrowing = !hasLevels && place === 'created_at' && isFar(part)
  const column = isGrowing ? undefined : counter
  // An index provides the ids of the page first; only their rows are joined. The order uses the columns of the page:
  // with those of the joined rows, all 20 went through a temporary table on the disk.
  const ids = idsBy(place, column ? [`${column.sql} as counted`] : [])
  const membership = hasLevels ? pageWithin(reach) : membershipWithin(reach, actor)
  // For the first pages, reading the ids first costs more (0.07 ms) than joining the few rows before them. With memberships, the
  // database could choose a filter of all of them, which took 7 ms.
  const near = page * perPage <= NEAR && membership.joins === '' && query.search === undefined ? source : undefined
  const parts = projects && !isFar(part) ? await partsOfProjects(projects) : undefined
  const more = [reachOf(idOf(actor)), ...(parts ? [{ ...parts.young, sql: `(${parts.young.sql}) as young` }] : [])]
  const idsFrom = (way: Direction, from: Place): Fragment => {
    if (!index) return and(ids, fromPlace(`p.${place}`, 'p.id', way, from))
    const common = { column: 'p.archived', value: Number(index.archived) }
    return idsBy(place, [], and(index.others, fromPlaceAmong(common, `p.${place}`, 'p.id', way, from)))
  }
  /** Returns the projects in the order of the reading. */
  const read = ({ direction: way, sql: limit, from }: Reading & Partial<PlacedReading>) => {
    const columns = (counted: string) =>
      `, ${more.map(({ sql }) => sql).join(', ')}${column ? `, ${counted} as counted` : ''}`
    const first = [...more.flatMap(({ values }) => values), ...(column?.values ?? [])]
    const send = (sql: string, before: Fragment['values'], after: Fragment['values']) =>
      readListed<OfPage>(
        { sql, values: membership.values(idOf(actor), [...first, ...before], after) },
        membership,
        actor
      )
    if (near && !from) {
      const start = selectListed(membership, near.from.sql, columns(column?.sql ?? ''))
      const order = `order by p.${place} ${way}, p.id ${way} ${limit}`
      return send(`${start} where ${near.where.sql} ${order}`, near.from.values, near.where.values)
    }
    const found = from ? idsFrom(way, from) : ids
    const inPage = `(${found.sql} order by ${from && index ? `p.archived ${way}, ` : ''}place ${way}, id ${way} ${limit})`
    const start = selectListed(membership, `${inPage} page join projects p on p.id = page.id`, columns('page.counted'))
    return send(`${start} order by page.place ${way}, page.id ${way}`, found.values, [])
  }
  if (isGrowing) {
    // A new project may be older than others, when it comes from another server.
    const count = async () => {
      const change = await changeOfProjects()
      const total = (await countOthers()) + (await countOwn())
      return { total, version: `${change} ${total}` }
    }
    const placed = ({ id, kept }: ListedProject) => ({ at: kept.row.created_at, id })
    return pageOfGrowing(part, { key: JSON.stringify(ids), direction, count, read, placed })
  }
  const counting = parts ? undefined : countOthers()
  const reading = hasLevels
    ? { direction, sql: part.sql }
    : await readingOf(part, direction, async () => ((await counting) ?? 0) + (await countOwn()))
  const [found, counted] = await Promise.all([read(reading), counting])
  // A page without items has no row with the column.
  const young = found[0]?.young
  const others = counted ?? (parts && young !== undefined ? parts.with(young) : await countOthers())
  const items = reading.direction === direction ? found : found.toReversed()
  if (!column) return { items, total: others, page, perPage }
  const ofCaller = items[0]?.counted ?? (page === 1 ? 0 : await countOwn())
  if (own) noteTotal(own, ofCaller)
  return { items, total: others + ofCaller, page, perPage }
}
