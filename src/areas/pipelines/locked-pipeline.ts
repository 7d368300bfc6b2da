// A pipeline under change: its row is locked, its counts are in memory until all changes are made.
import type { StageCounts } from '../../ci/advance.js'
import type { BuildStatus, StatusCounts } from '../../ci/status.js'
import { row } from '../../db/sql.js'
import { readStages, recountStages, writeStage } from './pipeline-stages.js'

export interface LockedPipeline {
  readonly id: number
  readonly status: BuildStatus
  readonly startedAt: Date | null
  stages: readonly StageCounts[]
  /** Stages whose rows are behind their counts. */
  readonly changed: Set<StageCounts>
}

/** Locks a pipeline until the transaction ends; undefined when there is none. */
export async function lockPipeline(id: number): Promise<LockedPipeline | undefined> {
  const found = await row<{ status: BuildStatus; started_at: Date | null }>(
    'select status, started_at from pipelines where id = ? for update',
    [id]
  )
  if (!found) return undefined
  const stages = await readStages(id)
  const pipeline: LockedPipeline = {
    id,
    status: found.status,
    startedAt: found.started_at,
    stages,
    changed: new Set()
  }
  // A new pipeline, or one whose rows came out of a backup.
  if (stages.length === 0) await recount(pipeline)
  return pipeline
}

/** Counts anew from the builds as they are now. */
export async function recount(pipeline: LockedPipeline): Promise<void> {
  await recountStages(pipeline.id)
  pipeline.stages = await readStages(pipeline.id)
  pipeline.changed.clear()
}

export interface CountedMove {
  readonly position: number
  readonly from: keyof StatusCounts
  readonly to: keyof StatusCounts
}

/** Notes that the builds of the move have their new status; false where the counts say that there were no such builds. */
export function countMove(pipeline: LockedPipeline, { position, from, to }: CountedMove, builds: number): boolean {
  const stage = pipeline.stages.find(known => known.position === position)
  if (!stage || stage.counts[from] < builds) return false
  stage.counts[from] -= builds
  stage.counts[to] += builds
  pipeline.changed.add(stage)
  return true
}

export async function saveCounts(pipeline: LockedPipeline): Promise<void> {
  for (const stage of pipeline.changed) await writeStage(pipeline.id, stage)
  pipeline.changed.clear()
}
