// Deployments: a successful build with an environment has deployed its commit there.
import type { CiEnvironment } from '../../../ci/config-types.js'
import type { PlannedBuild } from '../../../ci/plan.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { readBuildsById } from '../builds/build-readings.js'
import { type DeploymentRow, requireDeployment } from './deployments.queries.js'
import type { DeploymentReading } from './deployments.view.js'
import { isWebAddress } from './environments.js'

/** Reads the builds of a page of deployments, with one statement. */
export async function readDeployments(
  project: ProjectRow,
  deployments: readonly DeploymentRow[]
): Promise<DeploymentReading[]> {
  const builds = await readBuildsById(
    project,
    deployments.map(({ build_id: id }) => id)
  )
  return deployments.map(deployment => ({ deployment, build: builds.get(deployment.build_id) }))
}

/** Reads a deployment of a project with its build. Throws NotFound. */
export async function readDeployment(project: ProjectRow, id: number): Promise<DeploymentReading> {
  const deployment = await requireDeployment(project.id, id)
  const builds = await readBuildsById(project, [deployment.build_id])
  return { deployment, build: builds.get(deployment.build_id) }
}

interface DeployedRow {
  readonly project_id: number
  readonly environment_id: number
  readonly environment_url: string | null
  readonly plan: string
}

/**
 * Records the effect of a successful build on its environment: a deployment, or with `action: stop` its end. The second
 * run of the same job finds the deployment and changes nothing.
 */
export async function recordDeployment(buildId: number): Promise<void> {
  await transact(async () => {
    const build = await row<DeployedRow>(
      `select b.project_id, b.environment_id, b.environment_url, b.plan
       from builds b join environments e on e.id = b.environment_id where b.id = ? and b.status = 'success'`,
      [buildId]
    )
    // The lock on the row of the project makes concurrent deployments take their numbers in turn.
    if (!build || !(await holdForNumber(build.project_id))) return
    const now = new Date()
    const { action = 'start', autoStopIn = null, tier = null } = planOf(build) ?? {}
    if (action === 'stop') {
      await execute("update environments set state = 'stopped', auto_stop_at = null, updated_at = ? where id = ?", [
        now,
        build.environment_id
      ])
    }
    // The other actions only access an environment.
    if (action !== 'start') return
    const { affectedRows } = await execute(
      `insert ignore into deployments (project_id, iid, environment_id, build_id, ref, tag, sha, user_id, created_at)
       select b.project_id, (select coalesce(max(d.iid), 0) + 1 from deployments d where d.project_id = b.project_id),
         b.environment_id, b.id, b.ref, b.tag, b.sha, b.user_id, ? from builds b where b.id = ?`,
      [now, buildId]
    )
    if (affectedRows === 0) return
    const url = build.environment_url !== null && isWebAddress(build.environment_url) ? build.environment_url : null
    await execute(
      `update environments set state = 'available', external_url = coalesce(?, external_url), tier = coalesce(?, tier),
         auto_stop_at = ?, updated_at = ? where id = ?`,
      // Not specified: the last deployment decides when the environment stops, also that it never does.
      [url, tier, autoStopIn === null ? null : new Date(now.getTime() + autoStopIn * 1000), now, build.environment_id]
    )
  })
}

/** Builds of earlier versions lack some attributes. */
const planOf = ({ plan }: DeployedRow): Partial<CiEnvironment> | null =>
  (JSON.parse(plan) as Pick<PlannedBuild, 'environment'>).environment

const holdForNumber = (projectId: number) => row('select id from projects where id = ? for update', [projectId])
