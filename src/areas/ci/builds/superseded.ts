// A new pipeline of a branch cancels older ones, as far as their CI file allows.
import { row, rows } from '../../../db/connect/sql.js'
import { log } from '../../../log.js'
import { changePipeline } from '../pipelines/build-changes.js'
import { OLDER } from '../pipelines/insert-pipeline.js'
import { recount } from '../pipelines/locked-pipeline.js'
import { cancelUnfinished } from './pipeline-actions.js'

/** The maximum number of pipelines that one newer pipeline cancels. The next one cancels the others. */
const MOST = 100

interface OldPipeline {
  readonly id: number
  readonly on_new_commit: string
}

/** Cancels older pipelines of the same branch that may be interrupted. A second run changes nothing. */
export async function supersedeOlder(pipelineId: number): Promise<void> {
  const newer = await row<{ project_id: number; ref: string; tag: number }>(
    'select project_id, ref, tag from pipelines where id = ?',
    [pipelineId]
  )
  if (!newer || newer.tag === 1) return
  const older = await rows<OldPipeline>(
    `select id, on_new_commit from pipelines where ${OLDER} order by id limit ${MOST}`,
    [newer.project_id, newer.ref, pipelineId]
  )
  for (const old of older) {
    const canceled = await supersede(old)
    if (canceled) log().info({ pipeline: old.id, by: pipelineId, builds: canceled }, 'a pipeline is superseded')
  }
}

/**
 * Returns the number of canceled builds. Usually cancels all unfinished builds, unless one that may not be interrupted
 * has started. With `interruptible`, cancels only interruptible builds, regardless of what has started.
 */
const supersede = ({ id, on_new_commit: action }: OldPipeline) =>
  changePipeline(id, async pipeline => {
    if (action === 'conservative' && (await hasStarted(id))) return 0
    const canceled = await cancelUnfinished(pipeline, { interruptible: action === 'interruptible' })
    if (canceled > 0) await recount(pipeline)
    return canceled
  })

const hasStarted = async (pipelineId: number) =>
  (await row('select id from builds where pipeline_id = ? and interruptible = 0 and attempt > 0 limit 1', [
    pipelineId
  ])) !== undefined
