// The projects of an instance as a sysadmin lists them, with what they store. The lists of the API are in
// projects.queries.ts.
import { contains } from '../../db/conditions.js'
import { PART } from '../../db/paginate.js'
import { row, rows, type Value } from '../../db/sql.js'
import { NoSuch } from '../../errors.js'
import { type VisibilityName, visibilityOf } from '../../lib/levels.js'
import { DESCRIBED, type Described } from './describe-project.js'

export interface ProjectFilter {
  /** The path of a user or group. */
  readonly namespace?: string
  readonly visibility?: VisibilityName
  readonly archived?: boolean
  /** A part of the name, the path or the description. */
  readonly search?: string
  /** Only projects without activity since then. */
  readonly quietSince?: Date
}

export type ProjectOrder = 'newest' | 'activity' | 'size' | 'path'

/** What each order sorts by; the id decides between equal ones. `of` gives the value of a row. */
const ORDERS: {
  readonly [Order in ProjectOrder]: {
    readonly by: string
    readonly direction: 'asc' | 'desc'
    readonly of: (project: Described) => Value
  }
} = {
  newest: { by: 'p.id', direction: 'desc', of: ({ id }) => id },
  activity: { by: 'p.last_activity_at', direction: 'desc', of: ({ last_activity_at }) => last_activity_at },
  size: {
    by: 'coalesce(s.repository_size + s.build_artifacts_size, 0)',
    direction: 'desc',
    of: ({ repository_size, build_artifacts_size }) => (repository_size ?? 0) + (build_artifacts_size ?? 0)
  },
  path: {
    by: "concat(n.path_key, '/', p.path_key)",
    direction: 'asc',
    of: ({ path_with_namespace }) => path_with_namespace.toLowerCase()
  }
}

/** Throws NoSuch when no user or group has this path: a wrong word would look like a namespace without projects. */
export async function requireNamespace(path: string): Promise<void> {
  if (!(await row('select id from namespaces where path_key = lower(?)', [path]))) throw new NoSuch('namespace', path)
}

/** The first projects of a list, at most `limit`, and how many there are. */
export async function listDescribed(filter: ProjectFilter, order: ProjectOrder, limit: number) {
  const { where, values } = conditionOf(filter)
  const { by, direction } = ORDERS[order]
  const [items, found] = await Promise.all([
    rows<Described>(
      `${DESCRIBED} where ${where} order by ${by} ${direction}, p.id ${direction} limit ${Math.trunc(limit)}`,
      values
    ),
    row<{ total: number }>(
      `select count(*) as total from projects p join namespaces n on n.id = p.namespace_id where ${where}`,
      values
    )
  ])
  return { items, total: Number(found?.total ?? 0) }
}

/** The next part of such a list: what comes after `last`, or its beginning. */
export function describedAfter(filter: ProjectFilter, order: ProjectOrder, last?: Described): Promise<Described[]> {
  const { where, values } = conditionOf(filter)
  const { by, direction, of } = ORDERS[order]
  const than = direction === 'asc' ? '>' : '<'
  // MariaDB takes no index for a comparison of pairs.
  const after = last ? ` and ${by} ${than}= ? and (${by} ${than} ? or p.id ${than} ?)` : ''
  return rows<Described>(
    `${DESCRIBED} where ${where}${after} order by ${by} ${direction}, p.id ${direction} limit ${PART}`,
    last ? [...values, of(last), of(last), last.id] : values
  )
}

function conditionOf({ namespace, visibility, archived, search, quietSince }: ProjectFilter) {
  const conditions = ['1 = 1']
  const values: Value[] = []
  const add = (sql: string, ...more: Value[]) => {
    conditions.push(sql)
    values.push(...more)
  }
  if (namespace !== undefined) add('n.path_key = lower(?)', namespace)
  if (visibility !== undefined) add('p.visibility_level = ?', visibilityOf(visibility))
  if (archived !== undefined) add('p.archived = ?', archived)
  if (quietSince) add('p.last_activity_at < ?', quietSince)
  if (search) {
    const found = contains(['p.name', 'p.path', 'p.description'], search)
    add(found.sql, ...found.values)
  }
  return { where: conditions.join(' and '), values }
}
