// Every change of a build's status goes through this file. It locks the row of the pipeline before any row of its
// builds, so changes of one pipeline run one after another. With the opposite lock order, finishing and canceling the
// same build deadlocked in 18 of 30 runs.
import { type BuildStatus, counterOf, isComplete } from '../../../ci/status.js'
import { execute, type Value } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { noteStatus, publishChanges, publishNewBuilds } from './events/publish.js'
import { countMove, type LockedPipeline, lockPipeline, recount } from './locked-pipeline.js'
import { advancePipeline } from './progress.js'
import { freeResource } from './resource-groups.js'

/** The columns of a build that a change needs. Read them after the pipeline is locked. */
export interface ChangingBuild {
  readonly id: number
  readonly stage_index: number
  readonly status: BuildStatus
  readonly allow_failure: number
}

/**
 * Locks a pipeline, runs `change`, and then updates the pipeline from the new statuses of its builds. Returns the
 * result of `change`, or undefined when the pipeline does not exist. `change` must lock only builds of this pipeline.
 */
export function changePipeline<T>(
  id: number,
  change: (pipeline: LockedPipeline) => Promise<T>
): Promise<T | undefined> {
  return transact(async () => {
    const pipeline = await lockPipeline(id)
    if (!pipeline) return undefined
    const result = await change(pipeline)
    await advancePipeline(pipeline)
    await publishChanges(pipeline)
    return result
  })
}

/** Starts a new pipeline, whose builds are all in the status created. */
export async function startPipeline(id: number): Promise<void> {
  await changePipeline(id, async pipeline => {
    pipeline.checkAgain = true
    await publishNewBuilds(pipeline)
  })
}

/** Sets the status of a build, and the given columns with it. Call it inside `changePipeline`. */
export async function moveBuild(
  pipeline: LockedPipeline,
  build: ChangingBuild,
  status: BuildStatus,
  columns: { readonly [name: string]: Value }
): Promise<void> {
  const names = ['status', 'updated_at', ...Object.keys(columns)]
  await execute(`update builds set ${names.map(name => `${name} = ?`).join(', ')} where id = ?`, [
    status,
    new Date(),
    ...Object.values(columns),
    build.id
  ])
  noteStatus(pipeline, build.id, build.status, status)
  if (status === 'failed' && build.allow_failure !== 1) pipeline.ended.failed.add(build.id)
  const allowFailure = build.allow_failure === 1
  const move = {
    position: build.stage_index,
    from: counterOf({ status: build.status, allowFailure }),
    to: counterOf({ status, allowFailure })
  }
  if (!countMove(pipeline, move, 1)) await recount(pipeline)
  if (!isComplete(status)) return
  pipeline.checkAgain = true
  if (pipeline.eachBuild) await freeResource(build.id)
}
