// The one way in which a build gets another status. The row of its pipeline is locked before anything of its builds, so
// that changes of one pipeline come one after another: locked the other way round, the end of a build and its cancel
// deadlocked 18 times in 30.
import { type BuildStatus, counterOf } from '../../ci/status.js'
import { execute, type Value } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { countMove, type LockedPipeline, lockPipeline, recount } from './locked-pipeline.js'
import { movePipelineOn } from './progress.js'

/** What a change has to know of a build; to be read once its pipeline is locked. */
export interface ChangingBuild {
  readonly id: number
  readonly stage_index: number
  readonly status: BuildStatus
  readonly allow_failure: number
}

/**
 * Runs `change` with a pipeline locked, and then moves the pipeline on by what became of its builds. Gives undefined when
 * there is no such pipeline. `change` locks nothing but builds of this pipeline.
 */
export function changePipeline<T>(
  id: number,
  change: (pipeline: LockedPipeline) => Promise<T>
): Promise<T | undefined> {
  return transact(async () => {
    const pipeline = await lockPipeline(id)
    if (!pipeline) return undefined
    const result = await change(pipeline)
    await movePipelineOn(pipeline)
    return result
  })
}

/** Moves a pipeline on that nothing has changed yet: a new one begins. */
export async function advancePipeline(id: number): Promise<void> {
  await changePipeline(id, async () => undefined)
}

/** Gives a build another status, and the columns that go with it their values. Call it inside of `changePipeline`. */
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
  const allowFailure = build.allow_failure === 1
  const move = {
    position: build.stage_index,
    from: counterOf({ status: build.status, allowFailure }),
    to: counterOf({ status, allowFailure })
  }
  if (!countMove(pipeline, move, 1)) await recount(pipeline)
}
