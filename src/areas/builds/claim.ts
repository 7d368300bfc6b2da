// A build is taken with a lease and a token of its own. Whoever does not show the token any more changes nothing: so a
// worker that was thought dead cannot write into the build that another one runs again. Which build a runner takes is
// another matter: areas/runners/claim-next.ts.
import { randomBytes } from 'node:crypto'
import { config } from '../../config.js'
import { execute, row } from '../../db/sql.js'
import { NotFound } from '../../errors.js'
import type { RunnerResult } from '../../runner/job.js'
import { tokenHash } from '../../secrets.js'
import { type ChangingBuild, changePipeline, moveBuild } from '../pipelines/build-changes.js'
import type { LockedPipeline } from '../pipelines/locked-pipeline.js'

/** A build whose worker died this often is not begun again. */
const ATTEMPTS = 4

export interface BuildClaim {
  readonly buildId: number
  readonly pipelineId: number
  readonly attempt: number
  readonly token: string
}

/** A build as one finds it without locks. */
export interface FoundBuild {
  readonly buildId: number
  readonly pipelineId: number
}

export interface Taker {
  readonly runnerId: number
  /** The worker process of the built-in runner; null for an outside runner, which takes no build over from itself. */
  readonly processId: number | null
  readonly token: string
}

interface ClaimableRow extends ChangingBuild {
  readonly attempt: number
  readonly lease_until: Date | null
  readonly token_hash: Buffer | null
  readonly runner_id: number | null
  /** Whether the worker process that runs it still shows life. */
  readonly held: number
}

const leaseEnd = () => new Date(Date.now() + config().queue.lease * 1000)

/** A build's token: read access to its project while it runs, and the proof of who runs it. */
export const newBuildToken = () => randomBytes(20).toString('hex')

/** The claim that a token stands for, while its build runs. */
export async function findClaim(token: string): Promise<BuildClaim | undefined> {
  const found = await row<Omit<BuildClaim, 'token'>>(
    `select id as buildId, pipeline_id as pipelineId, attempt from builds where token_hash = ? and status = 'running'`,
    [tokenHash(token)]
  )
  return found && { ...found, token }
}

/**
 * Takes a pending build, or one that the same runner has in a worker which is gone; null when it is free no more. The
 * sandbox has kept what the first run did to itself, so the build can begin again; after four attempts it fails instead.
 */
export async function takeBuild({ buildId, pipelineId }: FoundBuild, taker: Taker): Promise<BuildClaim | null> {
  const claim = await changePipeline(pipelineId, async pipeline => {
    const build = await readBuild(pipeline, buildId)
    if (!build || !isFree(build, taker)) return null
    if (build.attempt >= ATTEMPTS) {
      await end(pipeline, build, { status: 'failed', reason: 'runner_system_failure' })
      return null
    }
    const attempt = build.attempt + 1
    await moveBuild(pipeline, build, 'running', {
      attempt,
      token_hash: tokenHash(taker.token),
      runner_id: taker.runnerId,
      process_id: taker.processId,
      lease_until: leaseEnd(),
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

/** Without a lock of its own: nobody else changes the status of a build while its pipeline is locked. */
function readBuild(pipeline: LockedPipeline, id: number): Promise<ClaimableRow | undefined> {
  return row<ClaimableRow>(
    `select b.id, b.stage_index, b.status, b.allow_failure, b.attempt, b.lease_until, b.token_hash, b.runner_id,
       exists (select 1 from job_processes p where p.id = b.process_id) as held
     from builds b where b.id = ? and b.pipeline_id = ?`,
    [id, pipeline.id]
  )
}

function isFree({ status, runner_id, held, lease_until }: ClaimableRow, { runnerId, processId }: Taker): boolean {
  if (status === 'pending') return true
  if (status !== 'running' || processId === null || runner_id !== runnerId) return false
  return held === 0 || (lease_until !== null && lease_until < new Date())
}

/**
 * Leaves a build that could not be run to its end to the next claim, at once. `blameless` for a worker that stops: then
 * the attempt does not count.
 */
export async function releaseBuild({ buildId, token }: BuildClaim, blameless: boolean): Promise<void> {
  const now = new Date()
  await execute(
    `update builds set process_id = null, lease_until = ?, attempt = attempt - ?, updated_at = ?
     where id = ? and token_hash = ? and status = 'running'`,
    [now, blameless ? 1 : 0, now, buildId, tokenHash(token)]
  )
}

/** Shows that the build is being run; false when it is no longer this claim's, as after a cancel. */
export async function renewBuild({ buildId, token }: BuildClaim): Promise<boolean> {
  const { affectedRows } = await execute(
    "update builds set lease_until = ? where id = ? and token_hash = ? and status = 'running'",
    [leaseEnd(), buildId, tokenHash(token)]
  )
  return affectedRows === 1
}

/** Ends a build and moves its pipeline on; false when it was no longer this claim's. */
export async function finishBuild(claim: BuildClaim, result: RunnerResult, traceSize: number): Promise<boolean> {
  const finished = await changePipeline(claim.pipelineId, async pipeline => {
    const build = await readBuild(pipeline, claim.buildId)
    if (build?.status !== 'running' || !build.token_hash?.equals(tokenHash(claim.token))) return false
    await end(pipeline, build, result, traceSize)
    return true
  })
  return finished ?? false
}

/** Ends a build whatever runs it: created, pending and running ones become canceled, others stay. Throws NotFound. */
export async function cancelBuild(id: number): Promise<void> {
  const found = await row<{ pipeline_id: number }>('select pipeline_id from builds where id = ?', [id])
  if (!found) throw new NotFound()
  await changePipeline(found.pipeline_id, async pipeline => {
    const build = await readBuild(pipeline, id)
    if (build && ['created', 'pending', 'running'].includes(build.status)) {
      await end(pipeline, build, { status: 'canceled' })
    }
  })
}

async function end(
  pipeline: LockedPipeline,
  build: ChangingBuild,
  { status, reason, exitCode }: RunnerResult,
  traceSize = 0
): Promise<void> {
  await moveBuild(pipeline, build, status, {
    failure_reason: reason ?? null,
    exit_code: exitCode ?? null,
    trace_size: traceSize,
    token_hash: null,
    process_id: null,
    lease_until: null,
    finished_at: new Date()
  })
}
