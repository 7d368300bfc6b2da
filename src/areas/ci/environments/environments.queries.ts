import { oldRows, row } from '../../../db/connect/sql.js'
import { countTotal, type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'

export interface EnvironmentRow {
  readonly id: number
  readonly name: string
  readonly slug: string
  readonly external_url: string | null
}

const SELECT = 'select e.id, e.name, e.slug, e.external_url from environments e where e.project_id = ?'

/** Returns a page of the environments of a project, in order of creation. */
export async function listEnvironments(projectId: number, query: PageRequest): Promise<Page<EnvironmentRow>> {
  const { page, perPage, sql } = window(query)
  const [total, items] = await Promise.all([
    countTotal('select count(*) as total from environments where project_id = ?', [projectId]),
    oldRows<EnvironmentRow>(`${SELECT} order by e.id ${sql}`, [projectId])
  ])
  return { items, total, page, perPage }
}

/** Finds an environment of a project. Throws NotFound. */
export async function requireEnvironment(projectId: number, id: number): Promise<EnvironmentRow> {
  const found = await row<EnvironmentRow>(`${SELECT} and e.id = ?`, [projectId, id])
  if (!found) throw new NotFound()
  return found
}

export const findEnvironment = (projectId: number, name: string): Promise<EnvironmentRow | undefined> =>
  row<EnvironmentRow>(`${SELECT} and e.name = ?`, [projectId, name])

/** An environment with its state and its last deployment. */
export interface ShownEnvironment extends EnvironmentRow {
  readonly state: 'available' | 'stopped'
  readonly auto_stop_at: Date | null
  readonly deployed_at: Date | null
  readonly ref: string | null
  readonly sha: string | null
  readonly build_id: number | null
}

const SHOWN = `select e.id, e.name, e.slug, e.external_url, e.state, e.auto_stop_at, d.created_at as deployed_at, d.ref, d.sha,
  d.build_id
  from environments e left join deployments d
    on d.id = (select max(l.id) from deployments l where l.environment_id = e.id)
  where e.project_id = ?`

/** Returns a page of environments: those that are not stopped first, by name. */
export async function showEnvironments(projectId: number, query: PageRequest): Promise<Page<ShownEnvironment>> {
  const { page, perPage, sql } = window(query)
  const [total, items] = await Promise.all([
    countTotal('select count(*) as total from environments where project_id = ?', [projectId]),
    oldRows<ShownEnvironment>(`${SHOWN} order by e.state, e.name ${sql}`, [projectId])
  ])
  return { items, total, page, perPage }
}

/** Returns one of them. Throws NotFound. */
export async function showEnvironment(projectId: number, id: number): Promise<ShownEnvironment> {
  const found = await row<ShownEnvironment>(`${SHOWN} and e.id = ?`, [projectId, id])
  if (!found) throw new NotFound()
  return found
}
