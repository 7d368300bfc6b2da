// The actions of people on builds: the rules behind the API. administer.ts has the rules that commands share.
import type { Origin } from '../../../access/actor.js'
import { type BuildStatus, isComplete } from '../../../ci/status.js'
import { execute } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { BadRequest, Forbidden, NothingThere } from '../../../errors.js'
import { enqueue } from '../../../queue/enqueue.js'
import { removeArtifact } from '../../../storage/artifacts.js'
import { removeTrace, traceSize } from '../../../storage/traces.js'
import { audit } from '../../ground/audit/audit.js'
import { countArtifacts } from '../../projects/projects/project-statistics.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { changePipeline, moveBuild } from '../pipelines/build-changes.js'
import { recount } from '../pipelines/locked-pipeline.js'
import { wakeRunners } from '../pipelines/wake-runners.js'
import { cancelBuilds, retryBuilds } from './administer.js'
import { hasArtifacts } from './artifacts.js'
import { mustFindBuild } from './build-readings.js'
import { type BuildRow, findStartableBuild, type StartableBuild } from './builds.queries.js'
import { dropReportedVariables } from './reported-variables.js'
import { rearm } from './retries.js'

/** Cancels a build; one that has ended stays unchanged. Returns its id. Throws NothingThere. */
export async function cancelBuildOf(project: ProjectRow, id: number, origin: Origin): Promise<number> {
  await mustFindBuild(project, id)
  await cancelBuilds([id], origin)
  return id
}

/** Retries a build that has ended. Decided: returns the new build. Throws NothingThere or Forbidden. */
export async function retryBuildOf(project: ProjectRow, id: number, origin: Origin): Promise<number> {
  await mustFindBuild(project, id)
  const again = (await retryBuilds([id], origin)).get(id)
  if (again === undefined) throw new NothingThere()
  return again
}

/** Starts a manual build. Returns its id. Throws NothingThere or BadRequest. */
export async function playBuild(project: Pick<ProjectRow, 'id'>, id: number, origin: Origin): Promise<number> {
  const { pipeline_id: pipelineId } = await mustFindBuild(project, id)
  // Not specified: a build that a command starts keeps its user, because a sysadmin has no account.
  const started = await startManualBuild({ id, pipelineId }, origin.user?.id ?? null)
  if (!started) throw new BadRequest('400 (Bad request) "Unplayable Build" not given')
  return id
}

/** Starts a manual build. Returns false when the build is not waiting for that. */
export async function startManualBuild(
  { id, pipelineId }: { readonly id: number; readonly pipelineId: number },
  userId: number | null
): Promise<boolean> {
  const started = await changePipeline(pipelineId, async pipeline => {
    const build = await findStartableBuild(id)
    if (!build || !isPlayable(build)) return false
    const now = new Date()
    const user = userId !== null && { user_id: userId }
    if (build.resource_group === null && build.start_in !== 0) {
      await moveBuild(pipeline, build, 'pending', { ...user, queued_at: now, ready_at: null })
      await wakeRunners([id])
    } else {
      await moveBuild(pipeline, build, 'created', { ...user, ready_at: now })
      await enqueue('build.ready', { buildId: id })
    }
    if (!pipeline.eachBuild) return true
    await rearm(pipeline, { names: [build.name], stage: null, userId })
    await recount(pipeline)
    return true
  })
  return started ?? false
}

/** A manual build is skipped when its stage starts, and waits in that state. A delayed build stays created until its time. */
const isPlayable = ({ status, start_when: when, ready_at: readyAt, latest }: StartableBuild) =>
  latest === 1 &&
  ((status === 'skipped' && when === 'manual') || (status === 'created' && when === 'delayed' && readyAt !== null))

/**
 * Removes the trace and the artifacts of a build that has ended. Returns its id. Throws NothingThere, or Forbidden when
 * there is nothing to remove.
 */
export async function eraseBuild(project: Pick<ProjectRow, 'id'>, id: number, origin: Origin): Promise<number> {
  const build = await mustFindBuild(project, id)
  const hasTrace = build.attempt > 0 && (await traceSize({ build: id, attempt: build.attempt })) > 0
  if (!hasTrace && build.artifacts_attempt === null) throw new Forbidden('Build is not erasable!')
  const freed = await transact(async () => {
    // Another request may have erased the build since it was read.
    const { affectedRows } = await execute(
      `update builds set erased_at = ?, trace_size = 0, trace_sha256 = null, artifacts_filename = null,
         artifacts_size = null, artifacts_sha256 = null, artifacts_attempt = null, artifacts_expire_at = null,
         updated_at = ?
       where id = ? and status in ('success', 'failed', 'canceled') and erased_at is null`,
      [new Date(), new Date(), id]
    )
    if (affectedRows === 0) throw new Forbidden('Build is not erasable!')
    await dropReportedVariables(id)
    await audit(origin, { action: 'build.erase', target: targetOf(build) })
    return build.artifacts_size ?? 0
  })
  // The row no longer names the files, so a crash here leaves orphans, which the task `orphaned_files` removes.
  await removeFiles(build)
  if (freed > 0) await countArtifacts(id, -freed)
  return id
}

async function removeFiles({ id, attempt, artifacts_attempt: archived }: BuildRow): Promise<void> {
  for (let each = 1; each <= attempt; each++) await removeTrace({ build: id, attempt: each })
  if (archived !== null) await removeArtifact({ build: id, attempt: archived })
}

/** Keeps the artifacts of a build permanently. Returns its id. Throws NothingThere without artifacts. */
export async function keepArtifacts(project: ProjectRow, id: number): Promise<number> {
  const build = await mustFindBuild(project, id)
  if (!isComplete(build.status as BuildStatus) || !hasArtifacts(build)) throw new NothingThere()
  const { affectedRows } = await execute(
    `update builds set artifacts_expire_at = null where id = ? and artifacts_attempt = ?
       and (artifacts_expire_at is null or artifacts_expire_at > ?)`,
    [id, build.artifacts_attempt, new Date()]
  )
  if (affectedRows === 0 && build.artifacts_expire_at !== null) throw new NothingThere()
  return id
}

const targetOf = ({ id, name }: BuildRow) => ({ type: 'build', id, name })
