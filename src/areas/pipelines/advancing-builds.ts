// Moves the builds of a pipeline one by one, for pipelines whose builds do not all go by their stages.
import { type AdvancingBuild, nextMoves } from '../../ci/advance-builds.js'
import type { BuildWhen } from '../../ci/config-types.js'
import type { BuildStatus } from '../../ci/status.js'
import { execute, marks, rows, type Value } from '../../db/sql.js'
import { enqueue } from '../../queue/enqueue.js'
import { countMove, type LockedPipeline, recount } from './locked-pipeline.js'
import { wakeRunners } from './wake-runners.js'

interface Row {
  readonly id: number
  readonly name: string
  readonly status: BuildStatus
  readonly stage_index: number
  readonly start_when: BuildWhen
  readonly allow_failure: number
  readonly needs: string | null
  readonly start_in: number | null
  readonly resource_group: string | null
  readonly ready_at: Date | null
}

export interface ReadBuild extends AdvancingBuild {
  /** Seconds to wait after its turn has come; null for none. */
  readonly startIn: number | null
}

/** Reads the latest build of each name. The pipeline must be locked. */
export async function advancingBuilds(pipelineId: number): Promise<ReadBuild[]> {
  const found = await rows<Row>(
    `select b.id, b.name, b.status, b.stage_index, b.start_when, b.allow_failure, b.needs, b.start_in, b.resource_group,
       b.ready_at
     from builds b join (select max(id) as id from builds where pipeline_id = ? group by name) latest on latest.id = b.id
     order by b.id`,
    [pipelineId]
  )
  return found.map(row => ({
    id: row.id,
    name: row.name,
    status: row.status,
    stageIndex: row.stage_index,
    when: row.start_when,
    allowFailure: row.allow_failure === 1,
    needs: row.needs === null ? null : (JSON.parse(row.needs) as string[]),
    startIn: row.start_in,
    waits: row.start_in !== null || row.resource_group !== null,
    ready: row.ready_at !== null
  }))
}

/** Starts or skips the builds whose turn has come. */
export async function moveBuildsOn(pipeline: LockedPipeline): Promise<void> {
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
