// A claim gives a build a lease and a new token, and every later change requires the current token. So a worker that was presumed
// dead cannot write to a build that another worker runs again. areas/ci/runners/claim-next.ts chooses the build.
import { randomBytes } from 'node:crypto'
import { isClockSteady, rowsWithClock } from '../../../cluster/clock.js'
import { config } from '../../../config.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { execute, row } from '../../../db/connect/sql.js'
import { afterCommit } from '../../../db/connect/transact.js'
import { NotFound } from '../../../errors.js'
import { enqueue } from '../../../queue/enqueue.js'
import { wake } from '../../../queue/wake.js'
import type { RunnerResult } from '../../../runner/job.js'
import { tokenHash } from '../../../secrets.js'
import type { Measured } from '../../../storage/measure.js'
import { type ChangingBuild, changePipeline, moveBuild } from '../pipelines/build-changes.js'
import type { LockedPipeline } from '../pipelines/locked-pipeline.js'
import { wakeForRoom } from '../pipelines/wake-runners.js'
import { coverageIn, noteCoverage } from './coverage.js'
import { judgeFailure, repeat } from './failures.js'
import { cancelChildrenLater, stopOnFailure } from './pipeline-actions.js'

/** A build that is still unfinished after this many attempts, for example because its workers died, fails. */
const ATTEMPTS = 4

export interface BuildClaim {
  readonly buildId: number
  readonly pipelineId: number
  readonly attempt: number
  readonly token: string
}

/** A claim of whose token only the hash is known. */
export type BuildHold = Omit<BuildClaim, 'token'> & { readonly token: string | Buffer }

const hashOf = ({ token }: Pick<BuildHold, 'token'>): Buffer => (typeof token === 'string' ? tokenHash(token) : token)

/** A build that was found without a lock. */
export interface FoundBuild {
  readonly buildId: number
  readonly pipelineId: number
}

export interface Taker {
  readonly runnerId: number
  /** The worker process of the built-in runner. Null for an external runner, which never takes over its own builds. */
  readonly processId: number | null
  readonly token: string
  /** The maximum number of the project's builds on shared runners; for a shared runner, when there is a limit. */
  readonly mostOfProject?: number
}

interface ClaimableRow extends ChangingBuild {
  readonly attempt: number
  /** When a lease that begins now ends. */
  readonly lease_end: Date
  readonly is_late: number | null
  /** The time of the database. */
  readonly now: Date
  readonly token_hash: Buffer | null
  readonly runner_id: number | null
  readonly environment_id: number | null
  /** 1 while the worker process that runs the build is registered, otherwise 0. */
  readonly held: number
}

/** Returns a token for a build. While the build runs, it gives read access to the project and identifies the claim. */
export const newBuildToken = () => randomBytes(20).toString('hex')

/** Returns the claim of a token, or undefined when no running build has this token. */
export async function findClaim(token: string): Promise<BuildClaim | undefined> {
  const found = await row<Omit<BuildClaim, 'token'>>(
    `select id as buildId, pipeline_id as pipelineId, attempt from builds where token_hash = ? and status = 'running'`,
    [tokenHash(token)]
  )
  return found && { ...found, token }
}

/**
 * Claims a pending build, or a running build that the same runner started in a worker that died. Returns null when the
 * build is no longer free. The sandbox contains the effects of the first run, so the build can start again. After four
 * attempts the build fails instead.
 */
export async function takeBuild({ buildId, pipelineId }: FoundBuild, taker: Taker): Promise<BuildClaim | null> {
  const claim = await changePipeline(pipelineId, async pipeline => {
    const build = await readBuild(pipeline, buildId)
    if (!build || !isFree(build, taker)) return null
    // A running build is already included in the count.
    if (build.status === 'pending' && !(await hasRoom(pipelineId, taker.mostOfProject))) return null
    if (build.attempt >= ATTEMPTS) {
      await end(pipeline, build, { status: 'failed', reason: 'runner_system_failure' })
      return null
    }
    const attempt = build.attempt + 1
    await moveBuild(pipeline, build, 'running', {
      attempt,
      token_hash: tokenHash(taker.token),
      spent_token_hash: null,
      runner_id: taker.runnerId,
      process_id: taker.processId,
      lease_until: build.lease_end,
      started_at: new Date(),
      artifacts_filename: null,
      artifacts_size: null,
      artifacts_attempt: null,
      artifacts_expire_at: null
    })
    return { buildId, pipelineId, attempt, token: taker.token }
  })
  return claim ?? null
}

/** Takes no lock: the lock of the pipeline already prevents other changes of the build's status. */
async function readBuild(pipeline: LockedPipeline, id: number): Promise<ClaimableRow | undefined> {
  const [found] = await rowsWithClock<ClaimableRow>(
    `select b.id, b.stage_index, b.status, b.allow_failure, b.attempt, b.token_hash, b.runner_id, b.environment_id,
       b.lease_until < now(3) as is_late, now(3) as now, now(3) + interval ? second as lease_end,
       exists (select 1 from job_processes p where p.id = b.process_id) as held
     from builds b where b.id = ? and b.pipeline_id = ?`,
    [config().queue.lease, id, pipeline.id]
  )
  return found
}

/** Concurrent claims count one after another: each waits for the lock on the project, and then sees the claims before it. */
async function hasRoom(pipelineId: number, most: number | undefined): Promise<boolean> {
  if (most === undefined) return true
  const project = await row<{ id: number }>('select project_id as id from pipelines where id = ?', [pipelineId])
  if (project) await lockRow('projects', project.id)
  const running = await row<{ builds: number }>(
    `select count(*) as builds from builds b join runners r on r.id = b.runner_id
     where b.project_id = ? and b.status = 'running' and r.is_shared`,
    [project?.id ?? 0]
  )
  return Number(running?.builds ?? 0) < most
}

function isFree({ status, runner_id, held, is_late }: ClaimableRow, { runnerId, processId }: Taker): boolean {
  if (status === 'pending') return true
  if (status !== 'running' || processId === null || runner_id !== runnerId) return false
  return held === 0 || (is_late === 1 && isClockSteady(config().queue.lease * 1000))
}

/**
 * Ends the lease of an unfinished build, so that the next claim can take it at once. A worker that stops passes
 * `blameless`: then the attempt does not count.
 */
export async function releaseBuild({ buildId, token }: BuildClaim, blameless: boolean): Promise<void> {
  await execute(
    `update builds set process_id = null, lease_until = now(3), attempt = attempt - ?, updated_at = ?
     where id = ? and token_hash = ? and status = 'running'`,
    [blameless ? 1 : 0, new Date(), buildId, tokenHash(token)]
  )
}

/** Renews the lease of a build. Returns false when the claim no longer holds the build, for example after a cancel. */
export async function renewBuild({ buildId, token }: Pick<BuildHold, 'buildId' | 'token'>): Promise<boolean> {
  const { affectedRows } = await execute(
    "update builds set lease_until = now(3) + interval ? second where id = ? and token_hash = ? and status = 'running'",
    [config().queue.lease, buildId, hashOf({ token })]
  )
  return affectedRows === 1
}

/** Finishes a build and updates its pipeline. Returns false when the claim no longer holds the build. */
export async function finishBuild(claim: BuildHold, result: RunnerResult, trace: Measured): Promise<boolean> {
  const coverage = await coverageIn({ build: claim.buildId, attempt: claim.attempt }, trace)
  const finished = await changePipeline(claim.pipelineId, async pipeline => {
    const build = await readBuild(pipeline, claim.buildId)
    if (build?.status !== 'running' || !build.token_hash?.equals(hashOf(claim))) return false
    await end(pipeline, build, result, trace)
    if (coverage !== null) await noteCoverage(build.id, pipeline.id, coverage)
    if (result.status === 'success' && build.environment_id !== null) {
      await enqueue('build.deploy', { buildId: build.id })
    }
    return true
  })
  return finished ?? false
}

/** Finishes a running build that has no runner. Returns false when it has already ended. */
export async function finishTrigger(build: FoundBuild, result: RunnerResult, trace: Measured): Promise<boolean> {
  const finished = await changePipeline(build.pipelineId, async pipeline => {
    const found = await readBuild(pipeline, build.buildId)
    if (found?.status !== 'running' || found.token_hash !== null || found.runner_id !== null) return false
    await end(pipeline, found, result, trace)
    return true
  })
  return finished ?? false
}

/**
 * Cancels a build that is created, pending or running, on any runner. Other builds stay unchanged. Returns whether it
 * was canceled. The worker that runs it stops at once. `waiting` spares a build that a worker runs. Throws NotFound
 * when the build does not exist.
 */
export async function cancelBuild(id: number, { waiting = false } = {}): Promise<boolean> {
  const found = await row<{ pipeline_id: number }>('select pipeline_id from builds where id = ?', [id])
  if (!found) throw new NotFound('Build')
  const canceled = await changePipeline(found.pipeline_id, async pipeline => {
    const build = await readBuild(pipeline, id)
    const states = waiting ? ['created', 'pending'] : ['created', 'pending', 'running']
    if (!build || !states.includes(build.status)) return false
    await end(pipeline, build, { status: 'canceled' })
    if (build.status === 'running') afterCommit(() => wake('builds'))
    if (build.status === 'running' && build.runner_id === null) {
      await cancelChildrenLater({ pipelineId: pipeline.id, buildId: id })
    }
    return true
  })
  return canceled ?? false
}

/** Fails a build that waits without a runner for it. Returns false when it no longer waits. */
export async function failWaiting(id: number): Promise<boolean> {
  const found = await row<{ pipeline_id: number }>('select pipeline_id from builds where id = ?', [id])
  const failed =
    found &&
    (await changePipeline(found.pipeline_id, async pipeline => {
      const build = await readBuild(pipeline, id)
      if (build?.status !== 'pending') return false
      await end(pipeline, build, { status: 'failed', reason: 'stuck_or_timeout_failure' })
      return true
    }))
  return failed ?? false
}

async function end(
  pipeline: LockedPipeline,
  build: ClaimableRow,
  { status, reason, exitCode }: RunnerResult,
  trace: Measured = { size: 0, sha256: null }
): Promise<void> {
  const failure = status === 'failed' ? await judgeFailure(build.id, { reason, exitCode }) : null
  const judged = failure?.allowed ? { ...build, allow_failure: 1 } : build
  await moveBuild(pipeline, judged, status, {
    ...(failure?.allowed && { allow_failure: 1 }),
    failure_reason: reason ?? null,
    exit_code: exitCode ?? null,
    trace_size: trace.size,
    trace_sha256: trace.sha256,
    token_hash: null,
    trace_tail_encrypted: null,
    spent_token_hash: build.token_hash,
    process_id: null,
    lease_until: null,
    finished_at: new Date()
  })
  if (failure?.again) await repeat(pipeline, build.id)
  else if (status === 'failed' && judged.allow_failure !== 1) await stopOnFailure(pipeline)
  if (build.status === 'running') await wakeForRoom(pipeline.id)
}
