// All projects of the instance for the commands, with what jobs have counted.
import { nobody } from '../../../access/actor.js'
import { membershipOf } from '../../../access/membership.js'
import { marks, row, rows, type Value } from '../../../db/connect/sql.js'
import { and, below } from '../../../db/lists/conditions.js'
import { countTotal, PART } from '../../../db/lists/paginate.js'
import { NoSuch, NotFound } from '../../../errors.js'
import { conditionOf, type ProjectFilter } from './project-list.queries.js'
import { readProjectRows, selectWholeProjects, type WholeProjectRow } from './projects.queries.js'

/** A project with the columns that only commands show. The numbers are null until a job has counted them. */
export interface CountedProject extends WholeProjectRow {
  readonly forked_from: string | null
  readonly commit_count: number | null
  readonly repository_size: number | null
  readonly build_artifacts_size: number | null
}

const NOBODY = membershipOf(nobody)
const STORED = 'left join project_statistics s on s.project_id = p.id'
const COUNTED = selectWholeProjects(
  NOBODY,
  `projects p ${STORED}`,
  `, s.commit_count, s.repository_size, s.build_artifacts_size,
  (select concat(m.path, '/', q.path) from forked_project_links f join projects q on q.id = f.forked_from_project_id
    join namespaces m on m.id = q.namespace_id where f.forked_to_project_id = p.id) as forked_from`
)

const readCounted = (sql: string, values: readonly Value[]) =>
  readProjectRows<CountedProject>({ sql: `${COUNTED} ${sql}`, values }, NOBODY, nobody)

/** Returns a project with these columns. Throws NotFound. */
export async function requireCountedProject(id: number): Promise<CountedProject> {
  const [found] = await readCounted('where p.id = ?', [id])
  if (!found) throw new NotFound('Project')
  return found
}

export type ProjectOrder = 'newest' | 'activity' | 'size' | 'path'

const ORDERS: { readonly [Order in ProjectOrder]: string } = {
  newest: 'p.id desc',
  activity: 'p.last_activity_at desc, p.id desc',
  size: 'coalesce(s.repository_size + s.build_artifacts_size, 0) desc, p.id desc',
  path: 'n.path_key, p.path_key'
}

/** Throws NoSuch when no user or group has this path: a misspelled path would look like an empty namespace. */
export async function requireNamespace(path: string): Promise<void> {
  if (!(await row('select id from namespaces where path_key = lower(?)', [path]))) throw new NoSuch('namespace', path)
}

const FROM = `from projects p left join namespaces n on n.id = p.namespace_id ${STORED}`

/** Returns the first projects of a list, at most `limit`, and the total number. */
export async function listAllProjects(filter: ProjectFilter, order: ProjectOrder, limit: number) {
  const { sql, values } = await conditionOf(filter)
  const [items, total] = await Promise.all([
    readCounted(`where ${sql} order by ${ORDERS[order]} limit ${Math.trunc(limit)}`, values),
    countTotal(`select count(*) as total ${FROM} where ${sql}`, values)
  ])
  return { items, total }
}

/** Returns a function that reads the next part of such a list at each call, and an empty part at its end. */
export function projectParts(filter: ProjectFilter, order: ProjectOrder): () => Promise<CountedProject[]> {
  if (order === 'newest') {
    let last: number | undefined
    return async () => {
      const { sql, values } = and(await conditionOf(filter), below('p.id', last))
      const part = await readCounted(`where ${sql} order by p.id desc limit ${PART}`, values)
      last = part.at(-1)?.id ?? last
      return part
    }
  }
  let ids: number[] | undefined
  return async () => {
    // Sorts once and holds only the ids: sorting for each part took 69 s for 100,000 projects.
    ids ??= await idsInOrder(filter, order)
    for (;;) {
      const some = ids.splice(0, PART)
      const part = await byIds(some)
      // All projects of a part may have been deleted, which does not end the list.
      if (part.length > 0 || some.length === 0) return part
    }
  }
}

async function idsInOrder(filter: ProjectFilter, order: ProjectOrder): Promise<number[]> {
  const { sql, values } = await conditionOf(filter)
  const found = await rows<{ id: number }>(`select p.id ${FROM} where ${sql} order by ${ORDERS[order]}`, values)
  return found.map(({ id }) => id)
}

async function byIds(ids: readonly number[]): Promise<CountedProject[]> {
  if (ids.length === 0) return []
  const found = await readCounted(`where p.id in (${marks(ids)})`, ids)
  const known = new Map(found.map(project => [project.id, project]))
  return ids.flatMap(id => known.get(id) ?? [])
}
