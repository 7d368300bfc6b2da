// A build is taken with a lease and a token of its own. Whoever does not show the token any more changes nothing: so a
// worker that was thought dead cannot write into the build that another one runs again.
import { randomBytes } from 'node:crypto'
import { config } from '../../config.js'
import { execute, row } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { NotFound } from '../../errors.js'
import type { RunnerResult } from '../../runner/job.js'
import { tokenHash } from '../../secrets.js'
import { advancePipeline } from '../pipelines/progress.js'

/** A build whose worker died this often is not begun again. */
const ATTEMPTS = 4

export interface BuildClaim {
  readonly buildId: number
  readonly pipelineId: number
  readonly attempt: number
  readonly token: string
}

const leaseEnd = () => new Date(Date.now() + config().queue.lease * 1000)

interface ClaimableRow {
  pipeline_id: number
  status: string
  attempt: number
  lease_until: Date | null
  token_hash: Buffer | null
  /** Whether the worker process that runs it still shows life. */
  held: number
}

/** A build's token: read access to its project while it runs, and the proof of who runs it. */
export const newBuildToken = () => randomBytes(20).toString('hex')

/**
 * Takes a pending build, or one whose worker died while it ran; null when there is nothing to run. The sandbox has kept
 * what the first run did to itself, so the build can begin again. The same token gives the same claim: so one whose answer
 * was lost can be asked for again.
 */
export async function claimBuild(
  buildId: number,
  processId: number,
  token = newBuildToken()
): Promise<BuildClaim | null> {
  return transact(async () => {
    const build = await row<ClaimableRow>(
      `select b.pipeline_id, b.status, b.attempt, b.lease_until, b.token_hash,
         exists (select 1 from job_processes p where p.id = b.process_id) as held
       from builds b where b.id = ? for update`,
      [buildId]
    )
    if (!build) return null
    const claim = { buildId, pipelineId: build.pipeline_id, token }
    if (build.token_hash?.equals(tokenHash(token))) return { ...claim, attempt: build.attempt }
    if (!isFree(build)) return null
    if (build.attempt >= ATTEMPTS) {
      await end(buildId, { status: 'failed', reason: 'runner_system_failure' })
      await advancePipeline(build.pipeline_id)
      return null
    }
    const now = new Date()
    await execute(
      `update builds set status = 'running', attempt = attempt + 1, token_hash = ?, process_id = ?, lease_until = ?,
         started_at = ?, updated_at = ?, artifacts_filename = null, artifacts_size = null, artifacts_attempt = null,
         artifacts_expire_at = null where id = ?`,
      [tokenHash(token), processId, leaseEnd(), now, now, buildId]
    )
    await advancePipeline(build.pipeline_id)
    return { ...claim, attempt: build.attempt + 1 }
  })
}

function isFree({ status, held, lease_until }: ClaimableRow): boolean {
  if (status !== 'running') return status === 'pending'
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
  return transact(async () => {
    const mine = await row<{ id: number }>(
      "select id from builds where id = ? and token_hash = ? and status = 'running' for update",
      [claim.buildId, tokenHash(claim.token)]
    )
    if (!mine) return false
    await end(claim.buildId, result, traceSize)
    await advancePipeline(claim.pipelineId)
    return true
  })
}

/** Ends a build whatever runs it: created, pending and running ones become canceled, others stay. */
export async function cancelBuild(id: number): Promise<void> {
  await transact(async () => {
    const build = await row<{ pipeline_id: number; status: string }>(
      'select pipeline_id, status from builds where id = ? for update',
      [id]
    )
    if (!build) throw new NotFound()
    if (!['created', 'pending', 'running'].includes(build.status)) return
    await end(id, { status: 'canceled' })
    await advancePipeline(build.pipeline_id)
  })
}

async function end(id: number, { status, reason, exitCode }: RunnerResult, traceSize = 0): Promise<void> {
  const now = new Date()
  await execute(
    `update builds set status = ?, failure_reason = ?, exit_code = ?, trace_size = ?, token_hash = null,
       process_id = null, lease_until = null, finished_at = ?, updated_at = ? where id = ?`,
    [status, reason ?? null, exitCode ?? null, traceSize, now, now, id]
  )
}
