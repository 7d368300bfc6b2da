// Retries and cancels a whole pipeline.
import type { Origin } from '../../../access/actor.js'
import { execute, rows } from '../../../db/connect/sql.js'
import { afterCommit, transact } from '../../../db/connect/transact.js'
import { NotFound } from '../../../errors.js'
import { enqueue } from '../../../queue/enqueue.js'
import { wake } from '../../../queue/wake.js'
import { audit } from '../../ground/audit/audit.js'
import { changePipeline } from '../pipelines/build-changes.js'
import { noteUnfinished } from '../pipelines/events/publish.js'
import { type LockedPipeline, recount } from '../pipelines/locked-pipeline.js'
import type { PipelineRow } from '../pipelines/pipelines.queries.js'
import { freeResources } from '../pipelines/resource-groups.js'
import { cancelStatuses } from '../pipelines/statuses/commit-statuses.js'
import { wakeForRoom, wakeRunners } from '../pipelines/wake-runners.js'
import { copyBuild, rearm } from './retries.js'

interface EndedBuild {
  readonly id: number
  readonly name: string
  readonly stage_index: number
  readonly start_when: string
}

/**
 * Retries all failed and canceled builds of a pipeline as new builds, except those that were already retried. Their
 * stages run again one after another, and skipped builds of later stages get another chance.
 */
export async function retryPipeline({ id }: Pick<PipelineRow, 'id'>, origin: Origin): Promise<void> {
  const done = await changePipeline(id, async pipeline => {
    const ended = await endedBuilds(id)
    const first = ended[0]?.stage_index
    if (first === undefined) return true
    const begun: number[] = []
    const userId = origin.user?.id ?? null
    pipeline.ended.repeated = true
    for (const build of ended) {
      // Somebody has started it manually before. In a later stage it waits for that again.
      const now = build.stage_index === first && build.start_when === 'manual'
      const copy = await copyBuild(pipeline, build.id, { userId, status: now ? 'pending' : 'created' })
      if (now) begun.push(copy)
    }
    await rearm(pipeline, { names: ended.map(({ name }) => name), stage: first, userId })
    await recount(pipeline)
    await wakeRunners(begun)
    await audit(origin, {
      action: 'pipeline.retry',
      target: targetOf(id),
      changes: { builds: { after: ended.length } }
    })
    return true
  })
  if (!done) throw new NotFound()
}

const endedBuilds = (pipelineId: number) =>
  rows<EndedBuild>(
    `select b.id, b.name, b.stage_index, b.start_when
     from builds b join (select max(id) as id from builds where pipeline_id = ? group by name) latest on latest.id = b.id
     where b.status in ('failed', 'canceled') order by b.stage_index, b.id`,
    [pipelineId]
  )

/** Cancels all builds of a pipeline that have not ended. Their workers stop at once. */
export async function cancelPipeline({ id }: Pick<PipelineRow, 'id'>, origin: Origin): Promise<void> {
  const done = await changePipeline(id, async pipeline => {
    const affectedRows = await cancelUnfinished(pipeline)
    const statuses = await cancelStatuses(id, new Date())
    if (affectedRows + statuses === 0) return true
    await recount(pipeline)
    await audit(origin, {
      action: 'pipeline.cancel',
      target: targetOf(id),
      changes: { builds: { after: affectedRows }, ...(statuses > 0 && { statuses: { after: statuses } }) }
    })
    return true
  })
  if (!done) throw new NotFound()
  await cancelChildren({ pipelineId: id }, origin)
}

/** Cancels the rest of a pipeline after a failed build, if its CI file says so. */
export async function stopOnFailure(pipeline: LockedPipeline): Promise<void> {
  if (!pipeline.stopsOnFailure) return
  if ((await cancelUnfinished(pipeline)) > 0) await recount(pipeline)
  await cancelChildrenLater({ pipelineId: pipeline.id })
}

interface Parent {
  readonly pipelineId: number
  /** One of its builds, when only its children are canceled. */
  readonly buildId?: number
}

/** For a change that holds the lock of its pipeline: children have their own locks. */
export async function cancelChildrenLater(parent: Parent): Promise<void> {
  if ((await findChildren(parent)).length > 0) await enqueue('pipeline.cancel_children', parent)
}

/** Child pipelines are canceled with their parent, because they are parts of it. */
export async function cancelChildren(parent: Parent, origin: Origin): Promise<void> {
  for (const child of await findChildren(parent)) await cancelPipeline(child, origin)
}

const findChildren = ({ pipelineId, buildId }: Parent) =>
  rows<{ id: number }>(
    `select l.id from downstream_pipelines d join pipelines l on l.id = d.pipeline_id
     where d.upstream_pipeline_id = ? and (? is null or d.build_id = ?) and d.is_child
       and l.status in ('created', 'pending', 'running') order by l.id`,
    [pipelineId, buildId ?? null, buildId ?? null]
  )

/**
 * Cancels the unfinished builds of a locked pipeline, or only the interruptible ones. Returns how many. The caller
 * counts the builds again.
 */
export async function cancelUnfinished(pipeline: LockedPipeline, { interruptible = false } = {}): Promise<number> {
  const now = new Date()
  const which = `status in ('created', 'pending', 'running')${interruptible ? ' and interruptible = 1' : ''}`
  await noteUnfinished(pipeline, which)
  const { affectedRows } = await execute(
    `update builds set status = 'canceled', spent_token_hash = token_hash, token_hash = null, process_id = null,
       lease_until = null, ready_at = null, finished_at = ?, updated_at = ?
     where pipeline_id = ? and ${which}`,
    [now, now, pipeline.id]
  )
  if (affectedRows === 0) return 0
  if (pipeline.eachBuild) await freeResources(pipeline.id)
  await wakeForRoom(pipeline.id)
  afterCommit(() => wake('builds'))
  return affectedRows
}

const CANCELED_AT_ONCE = 200

/** Cancels the builds of a removed project. Does not advance the pipelines, which would start the builds of later stages. */
export async function cancelBuildsOfProject(projectId: number): Promise<void> {
  for (let canceled = CANCELED_AT_ONCE; canceled === CANCELED_AT_ONCE; ) {
    const { affectedRows } = await transact(() => {
      const now = new Date()
      return execute(
        `update builds set status = 'canceled', spent_token_hash = token_hash, token_hash = null, process_id = null,
           lease_until = null, finished_at = ?, updated_at = ?
         where project_id = ? and status in ('created', 'pending', 'running') limit ${CANCELED_AT_ONCE}`,
        [now, now, projectId]
      )
    })
    canceled = affectedRows
  }
}

const targetOf = (id: number) => ({ type: 'pipeline', id, name: `pipeline ${id}` })
