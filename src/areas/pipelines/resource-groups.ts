// One build of a resource group runs at a time in a project. The others stay created, with the moment from which they are
// ready. The row of the project makes takers and leavers come one after the other: without it, a build could look for a
// free group just before the group becomes free, and nobody would wake it.
import { row, rows } from '../../db/sql.js'
import { enqueue } from '../../queue/enqueue.js'

const hold = (projectId: number) => row('select id from projects where id = ? for update', [projectId])

/** Whether no build of a group waits for a runner or runs. Keeps it so until the transaction ends. */
export async function isFree(projectId: number, group: string): Promise<boolean> {
  await hold(projectId)
  const busy = await row(
    "select id from builds where project_id = ? and status in ('pending', 'running') and resource_group = ? limit 1",
    [projectId, group]
  )
  return busy === undefined
}

/** Wakes the next build of each resource group of a pipeline, after some of its builds have ended. */
export async function freeResources(pipelineId: number): Promise<void> {
  const groups = await rows<{ project_id: number; resource_group: string }>(
    'select distinct project_id, resource_group from builds where pipeline_id = ? and resource_group is not null',
    [pipelineId]
  )
  for (const { project_id: projectId, resource_group: group } of groups) await wakeNext(projectId, group)
}

/** Wakes the next build of the group of a build that has ended. */
export async function freeResource(buildId: number): Promise<void> {
  const build = await row<{ project_id: number; resource_group: string | null }>(
    'select project_id, resource_group from builds where id = ?',
    [buildId]
  )
  if (build && build.resource_group !== null) await wakeNext(build.project_id, build.resource_group)
}

async function wakeNext(projectId: number, group: string): Promise<void> {
  await hold(projectId)
  const next = await row<{ id: number | null }>(
    `select min(id) as id from builds
     where project_id = ? and status = 'created' and resource_group = ? and ready_at <= ?`,
    [projectId, group, new Date()]
  )
  if (next && next.id !== null) await enqueue('build.ready', { buildId: next.id })
}
