import { oldRows, row } from '../../../db/connect/sql.js'
import { countTotal, type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'
import { JOINED_USER, type JoinedUser } from '../../people/users/joined-user.js'

export type DeploymentRow = JoinedUser & DeploymentColumns

interface DeploymentColumns {
  readonly id: number
  readonly iid: number
  readonly ref: string
  readonly sha: string
  readonly created_at: Date
  readonly build_id: number
  readonly environment_id: number
  readonly environment_name: string
  readonly environment_url: string | null
}

const SELECT = `select d.id, d.iid, d.ref, d.sha, d.created_at, d.build_id, d.environment_id, e.name as environment_name,
  e.external_url as environment_url, ${JOINED_USER}
  from deployments d join environments e on e.id = d.environment_id left join users u on u.id = d.user_id
  where d.project_id = ?`

/** Returns a page of the deployments of a project, in order of creation. */
export async function listDeployments(projectId: number, query: PageRequest): Promise<Page<DeploymentRow>> {
  const { page, perPage, sql } = window(query)
  const [total, items] = await Promise.all([
    countTotal('select count(*) as total from deployments where project_id = ?', [projectId]),
    oldRows<DeploymentRow>(`${SELECT} order by d.id ${sql}`, [projectId])
  ])
  return { items, total, page, perPage }
}

/** Returns a page of the deployments to an environment, newest first. */
export async function listDeploymentsTo(
  projectId: number,
  environmentId: number,
  query: PageRequest
): Promise<Page<DeploymentRow>> {
  const { page, perPage, sql } = window(query)
  const [total, items] = await Promise.all([
    countTotal('select count(*) as total from deployments where environment_id = ?', [environmentId]),
    oldRows<DeploymentRow>(`${SELECT} and d.environment_id = ? order by d.id desc ${sql}`, [projectId, environmentId])
  ])
  return { items, total, page, perPage }
}

/** Finds a deployment of a project. Throws NotFound. */
export async function requireDeployment(projectId: number, id: number): Promise<DeploymentRow> {
  const found = await row<DeploymentRow>(`${SELECT} and d.id = ?`, [projectId, id])
  if (!found) throw new NotFound()
  return found
}
