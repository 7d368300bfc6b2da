// Starts builds that had to wait: for the delay of `start_in`, or for their resource group. Also starts builds that
// start pipelines.
import type { BuildStatus } from '../../../ci/status.js'
import { row } from '../../../db/connect/sql.js'
import { enqueue } from '../../../queue/enqueue.js'
import { changePipeline, moveBuild } from '../pipelines/build-changes.js'
import { isFree } from '../pipelines/resource-groups.js'
import { wakeRunners } from '../pipelines/wake-runners.js'

interface WaitingBuild {
  readonly id: number
  readonly project_id: number
  readonly stage_index: number
  readonly status: BuildStatus
  readonly allow_failure: number
  readonly resource_group: string | null
  /** 0 when the build starts a pipeline. */
  readonly start_in: number | null
  readonly ready_at: Date | null
}

/** Starts a build, unless it still has to wait: then the end of another build of its group wakes it. */
export async function startReady(buildId: number): Promise<void> {
  const found = await row<{ pipeline_id: number }>('select pipeline_id from builds where id = ?', [buildId])
  if (!found) return
  await changePipeline(found.pipeline_id, async pipeline => {
    const build = await row<WaitingBuild>(
      `select id, project_id, stage_index, status, allow_failure, resource_group, start_in, ready_at from builds where id = ?`,
      [buildId]
    )
    const now = new Date()
    if (build?.status !== 'created' || build.ready_at === null || build.ready_at > now) return
    if (build.resource_group !== null && !(await isFree(build.project_id, build.resource_group))) return
    if (build.start_in === 0) {
      await moveBuild(pipeline, build, 'running', { attempt: 1, queued_at: now, started_at: now, ready_at: null })
      await enqueue('build.trigger', { buildId })
      return
    }
    await moveBuild(pipeline, build, 'pending', { queued_at: now, ready_at: null })
    await wakeRunners([buildId])
  })
}
