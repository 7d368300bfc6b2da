// Stops environments: on request, and when the branch of their last deployment is deleted.
import type { Origin } from '../../../access/actor.js'
import type { PlannedBuild } from '../../../ci/plan.js'
import { execute, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { NotFound } from '../../../errors.js'
import { ZERO } from '../../../git/refs/refs.js'
import { findSettledChange } from '../../code/refs/ref-changes.queries.js'
import type { Listener } from '../../ground/activity/listeners.js'
import { audit } from '../../ground/audit/audit.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { startManualBuild } from '../builds/build-actions.js'
import { type EnvironmentRow, requireEnvironment } from './environments.queries.js'

/** Not specified: the maximum number of environments that one deleted branch stops. */
const MOST = 1000

/** Marks an environment as stopped, and starts the `on_stop` job of its last deployment if that is a manual job. Throws NotFound. */
export async function stopEnvironment(project: ProjectRow, id: number, origin: Origin): Promise<EnvironmentRow> {
  const environment = await requireEnvironment(project.id, id)
  const name = `${project.namespace_path}/${project.path} ${environment.name}`
  await transact(async () => {
    if (!(await stop(id, origin.user?.id ?? null))) throw new NotFound()
    await audit(origin, { action: 'environment.stop', target: { type: 'project', id: project.id, name } })
  })
  return environment
}

export const branchEnvironments: Listener = {
  name: 'environments',
  on: { 'ref.changed': ({ event }) => stopThoseOfBranch(event.refChangeId) }
}

/** Stops the environments whose last deployment came from a deleted branch. A second run finds none. */
async function stopThoseOfBranch(refChangeId: number): Promise<void> {
  const change = await findSettledChange(refChangeId)
  const [, branch] = /^refs\/heads\/(.+)$/s.exec(change?.ref ?? '') ?? []
  if (!change || branch === undefined || change.new_id !== ZERO) return
  const environments = await rows<{ id: number }>(
    `select e.id from environments e
     join deployments d on d.id = (select max(l.id) from deployments l where l.environment_id = e.id)
     where e.project_id = ? and e.state = 'available' and d.ref = ? and d.tag = 0 order by e.id limit ${MOST}`,
    [change.project_id, branch]
  )
  for (const { id } of environments) await transact(() => stop(id, change.user_id))
}

/** Stops an environment. Returns false when it no longer exists. */
export async function stop(id: number, userId: number | null): Promise<boolean> {
  const stopper = await findStopper(id)
  if (stopper) await startManualBuild(stopper, userId)
  const { affectedRows } = await execute(
    "update environments set state = 'stopped', auto_stop_at = null, updated_at = ? where id = ?",
    [new Date(), id]
  )
  return affectedRows > 0
}

/** Returns the newest build of the `on_stop` job of an environment's last deployment. */
async function findStopper(environmentId: number): Promise<{ id: number; pipelineId: number } | undefined> {
  const deployed = await row<{ plan: string; pipeline_id: number }>(
    `select b.plan, b.pipeline_id from deployments d join builds b on b.id = d.build_id
     where d.environment_id = ? order by d.id desc limit 1`,
    [environmentId]
  )
  const { environment } = deployed ? (JSON.parse(deployed.plan) as Pick<PlannedBuild, 'environment'>) : {}
  if (!deployed || !environment?.onStop) return undefined
  const found = await row<{ id: number | null }>(
    'select max(id) as id from builds where pipeline_id = ? and name = ?',
    [deployed.pipeline_id, environment.onStop]
  )
  return found && found.id !== null ? { id: found.id, pipelineId: deployed.pipeline_id } : undefined
}
