// Advances the builds of a pipeline one by one, for pipelines in which not all builds depend only on their stages.
import { type AdvancingBuild, nextMoves } from '../../../ci/advance-builds.js'
import type { BuildWhen } from '../../../ci/config-types.js'
import { type BuildStatus, latestBuilds } from '../../../ci/status.js'
import { execute, marks, rows, type Value } from '../../../db/connect/sql.js'
import { enqueue } from '../../../queue/enqueue.js'
import { countMove, type LockedPipeline, recount } from './locked-pipeline.js'
import { wakeRunners } from './wake-runners.js'

interface Row {
  readonly id: number
  readonly name: string
  /** Status, stage, `when`, and whether failures are allowed, a resource is shared, and the build is ready. */
  readonly facts: string
  readonly needs: string | null
  readonly start_in: number | null
}

export interface ReadBuild extends AdvancingBuild {
  /** Seconds to wait after the build is ready; null for none. */
  readonly startIn: number | null
}

/** Reads the latest build of each name. The pipeline must be locked. */
export async function advancingBuilds(pipelineId: number): Promise<ReadBuild[]> {
  // Each field of a row costs the driver some microseconds, so short fields are combined.
  const found = await rows<Row>(
    `select id, name, needs, start_in, concat_ws(' ', status, stage_index, start_when, allow_failure,
       resource_group is not null, ready_at is not null) as facts
     from builds where pipeline_id = ?`,
    [pipelineId]
  )
  // Selecting the latest builds in the database took five times as long for a thousand builds.
  return latestBuilds(found).map(({ id, name, facts, needs, start_in: startIn }) => {
    const [status, stage, when, allowFailure, shares, ready] = facts.split(' ')
    return {
      id,
      name,
      status: status as BuildStatus,
      stageIndex: Number(stage),
      when: when as BuildWhen,
      allowFailure: allowFailure === '1',
      needs: needs === null ? null : (JSON.parse(needs) as string[]),
      startIn,
      waits: startIn !== null || shares === '1',
      ready: ready === '1'
    }
  })
}

/** Starts or skips the builds that are ready. */
export async function advanceBuilds(pipeline: LockedPipeline): Promise<void> {
  if (!pipeline.stages.some(({ counts }) => counts.created > 0)) return
  const builds = await advancingBuilds(pipeline.id)
  const { pending, ready, skipped } = nextMoves(builds)
  const now = new Date()
  await change(pending, "status = 'pending', queued_at = ?, updated_at = ?", [now, now])
  await change(skipped, "status = 'skipped', updated_at = ?", [now])
  const startIn = new Map(builds.map(build => [build.id, build.startIn]))
  for (const build of ready) await holdBack(build, new Date(now.getTime() + (startIn.get(build.id) ?? 0) * 1000))
  await wakeRunners(pending.map(({ id }) => id))
  const counted = [
    ...pending.map(({ stageIndex }) => ({ position: stageIndex, from: 'created', to: 'pending' }) as const),
    ...skipped.map(({ stageIndex }) => ({ position: stageIndex, from: 'created', to: 'skipped' }) as const)
  ].every(move => countMove(pipeline, move, 1))
  if (!counted) await recount(pipeline)
}

const AT_ONCE = 500

async function change(builds: readonly AdvancingBuild[], set: string, values: readonly Value[]): Promise<void> {
  for (let at = 0; at < builds.length; at += AT_ONCE) {
    const ids = builds.slice(at, at + AT_ONCE).map(({ id }) => id)
    await execute(`update builds set ${set} where id in (${marks(ids)}) and status = 'created'`, [...values, ...ids])
  }
}

/** The build stays created until a job starts it. */
async function holdBack({ id }: AdvancingBuild, readyAt: Date): Promise<void> {
  await execute('update builds set ready_at = ? where id = ?', [readyAt, id])
  await enqueue('build.ready', { buildId: id }, { runAt: readyAt })
}
