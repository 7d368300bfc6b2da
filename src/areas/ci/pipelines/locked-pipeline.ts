// A pipeline during a change: its row is locked, and its counts stay in memory until all changes are made.
import type { StageCounts } from '../../../ci/advance.js'
import type { BuildStatus, StatusCounts } from '../../../ci/status.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { row } from '../../../db/connect/sql.js'
import { type WantedColumns, type WantedEvents, wantedColumns, wantedIn } from '../../ground/hooks/ci-subscriptions.js'
import { readStages, recountStages, writeStage } from './pipeline-stages.js'

export interface LockedPipeline {
  readonly id: number
  readonly status: BuildStatus
  readonly startedAt: Date | null
  /** Whether some builds do not depend only on their stages. */
  readonly eachBuild: boolean
  /** Whether the first failure cancels the rest. */
  readonly stopsOnFailure: boolean
  stages: readonly StageCounts[]
  /** Whether a change may let other builds start. A claim by a runner does not. */
  checkAgain: boolean
  /** Stages whose counts are not written to their rows yet. */
  readonly changed: Set<StageCounts>
  /** The events that hooks of the project subscribe to. */
  readonly wanted: WantedEvents
  /** The changes to publish at the end: builds by their ids, and the status of the pipeline if it changed. */
  readonly unpublished: { readonly builds: Set<number>; status: BuildStatus | null }
  /** Builds and statuses that failed in this change, and whether some were retried. */
  readonly ended: { readonly failed: Set<number>; repeated: boolean }
}

/** Locks the row of a pipeline until the transaction ends. Returns undefined when the pipeline does not exist. */
export async function lockPipeline(id: number): Promise<LockedPipeline | undefined> {
  await lockRow('pipelines', id)
  const found = await row<
    { status: BuildStatus; started_at: Date | null; each_build: number; stops_on_failure: number } & WantedColumns
  >(
    // The rows of hooks are read without a lock.
    `select status, started_at, each_build, stops_on_failure, ${wantedColumns('pipelines.project_id')} from pipelines where id = ?`,
    [id]
  )
  if (!found) return undefined
  const stages = await readStages(id)
  const pipeline: LockedPipeline = {
    id,
    status: found.status,
    startedAt: found.started_at,
    eachBuild: found.each_build === 1,
    stopsOnFailure: found.stops_on_failure === 1,
    stages,
    checkAgain: false,
    changed: new Set(),
    wanted: wantedIn(found),
    unpublished: { builds: new Set(), status: null },
    ended: { failed: new Set(), repeated: false }
  }
  // The pipeline is new, or its rows were restored from a backup.
  if (stages.length === 0) await recount(pipeline)
  return pipeline
}

/** Counts the builds of all stages again, from their rows. */
export async function recount(pipeline: LockedPipeline): Promise<void> {
  await recountStages(pipeline.id)
  pipeline.stages = await readStages(pipeline.id)
  pipeline.checkAgain = true
  pipeline.changed.clear()
}

export interface CountedMove {
  readonly position: number
  readonly from: keyof StatusCounts
  readonly to: keyof StatusCounts
}

/** Moves `builds` builds from one counter of a stage to another. Returns false when the counts do not include that many builds. */
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
