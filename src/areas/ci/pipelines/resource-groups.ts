// In a project, one build of a resource group runs at a time. The others stay created, with the time at which they
// became ready. The lock on the row of the project serialises builds that enter and leave a group: without it, a build
// could check the group just before it becomes free, and nothing would wake the build.
import { lockRow } from '../../../db/connect/lock-row.js'
import { row, rows } from '../../../db/connect/sql.js'
import { enqueue } from '../../../queue/enqueue.js'

/** Returns whether no build of a group waits for a runner or runs. Keeps it so until the transaction ends. */
export async function isFree(projectId: number, group: string): Promise<boolean> {
  await lockRow('projects', projectId)
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

/** Wakes the next build in the group of a build that has ended. */
export async function freeResource(buildId: number): Promise<void> {
  const build = await row<{ project_id: number; resource_group: string | null }>(
    'select project_id, resource_group from builds where id = ?',
    [buildId]
  )
  if (build && build.resource_group !== null) await wakeNext(build.project_id, build.resource_group)
}

async function wakeNext(projectId: number, group: string): Promise<void> {
  await lockRow('projects', projectId)
  const next = await row<{ id: number | null }>(
    `select min(id) as id from builds
     where project_id = ? and status = 'created' and resource_group = ? and ready_at <= ?`,
    [projectId, group, new Date()]
  )
  if (next && next.id !== null) await enqueue('build.ready', { buildId: next.id })
}
