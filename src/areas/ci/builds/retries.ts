// A retried build stays as it is, and a copy of it runs. Skipped builds after it get another chance.
import { buildsToRearm } from '../../../ci/advance-builds.js'
import { execute, marks, row, rows } from '../../../db/connect/sql.js'
import { enqueue } from '../../../queue/enqueue.js'
import { advancingBuilds } from '../pipelines/advancing-builds.js'
import { noteBuild } from '../pipelines/events/publish.js'
import type { LockedPipeline } from '../pipelines/locked-pipeline.js'

/** Whether a build can be given to a runner at once. */
const OPEN = 'resource_group is null and not (start_in <=> 0)'

/**
 * Copies a build of a locked pipeline, and returns the id of the copy. Not specified: a build that a command retries
 * keeps its user, because a sysadmin has no account. Its allowed exit codes apply again.
 */
export async function copyBuild(
  pipeline: LockedPipeline,
  id: number,
  { userId, status = 'pending' }: { readonly userId: number | null; readonly status?: 'pending' | 'created' }
): Promise<number> {
  const now = new Date()
  const at = status === 'pending' ? now : null
  const { insertId } = await execute(
    `insert into builds (pipeline_id, project_id, user_id, name, stage, stage_index, ref, tag, sha, status, start_when,
       allow_failure, tag_list, tag_list_hash, needs, start_in, resource_group, timeout, interruptible, plan, queued_at,
       created_at, updated_at, ready_at, ref_protected)
     select pipeline_id, project_id, coalesce(?, user_id), name, stage, stage_index, ref, tag, sha,
       if(${OPEN}, ?, 'created'), start_when,
       allow_failure and not (json_valid(plan) and coalesce(json_length(json_extract(plan, '$.allowFailureCodes')), 0) > 0),
       tag_list, tag_list_hash, needs, start_in, resource_group, timeout, interruptible, plan, ?, ?, ?, if(${OPEN}, null, ?), ref_protected from builds where id = ?`,
    [userId, status, at, now, now, at, id]
  )
  noteBuild(pipeline, insertId)
  // It waits until its resource group is free, or for the job that starts its pipeline.
  if (at && (await row('select id from builds where id = ? and ready_at is not null', [insertId]))) {
    await enqueue('build.ready', { buildId: insertId })
  }
  return insertId
}

/** The retried builds, and the first of their stages. Null: builds that depend only on their stages stay skipped. */
export interface Repeated {
  readonly names: readonly string[]
  readonly stage: number | null
  /** The user who has retried them; null for a command. */
  readonly userId: number | null
}

/**
 * Resets skipped builds: those of later stages, and those that need the retried builds. They run in the name of the user who starts them:
 * their first user, whom the archive of a project may have named, reads other projects.
 */
export async function rearm(pipeline: LockedPipeline, { names, stage, userId }: Repeated): Promise<void> {
  const ids = pipeline.eachBuild
    ? buildsToRearm(await advancingBuilds(pipeline.id), new Set(names), { stages: stage !== null }).map(({ id }) => id)
    : await skippedAfter(pipeline.id, stage)
  if (ids.length === 0) return
  await execute(
    `update builds set status = 'created', user_id = coalesce(?, user_id), ready_at = null, updated_at = ? where id in (${marks(ids)})`,
    [userId, new Date(), ...ids]
  )
}

async function skippedAfter(pipelineId: number, stage: number | null): Promise<number[]> {
  if (stage === null) return []
  const skipped = await rows<{ id: number }>(
    `select b.id from builds b join (select max(id) as id from builds where pipeline_id = ? group by name) latest
       on latest.id = b.id
     where b.stage_index > ? and b.status = 'skipped'`,
    [pipelineId, stage]
  )
  return skipped.map(({ id }) => id)
}
