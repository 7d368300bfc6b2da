// Reports of external runners about their builds: traces, signs of life, and the end.
import { config } from '../../../../config.js'
import { BadRequest } from '../../../../errors.js'
import type { FailureReason } from '../../../../runner/job.js'
import { tooMuchOutput } from '../../../../runner/trace.js'
import { measureTrace } from '../../../../storage/measure.js'
import { finishBuild, renewBuild } from '../../builds/claim.js'
import { type HeldBuild, NotHeld } from './held-builds.js'
import { appendMasked, endMasked, replaceMasked, TraceFull } from './masked-traces.js'

/** The failure reasons that a runner may report. */
export const REASONS = [
  'script_failure',
  'runner_system_failure',
  'job_execution_timeout',
  'image_pull_failure',
  'unknown_failure',
  'runner_configuration_error',
  'runner_external_dependency_failure',
  'runner_interrupted'
] as const satisfies readonly FailureReason[]

/** A lease is renewed only when less than this share is left: otherwise each chunk of a trace would write. */
const RENEWED_BELOW = 0.7

/** The final report of a runner about a build, or a sign of life. */
export interface Report {
  readonly state?: string
  readonly failure_reason?: string
  readonly exit_code?: number
  /** The whole trace, from old runners. */
  readonly trace?: string
}

/**
 * Appends bytes to the trace at an offset, and returns the size of the trace. Throws TraceMismatch, and NotHeld when
 * the trace exceeds the limit (runner.output_limit), which fails the build.
 */
export async function addToTrace(build: HeldBuild, range: string | undefined, chunk: Buffer): Promise<number> {
  const start = startOf(range)
  try {
    const size = await appendMasked(build, start, chunk, mostOfTrace())
    await renew(build)
    return size
  } catch (error) {
    if (error instanceof TraceFull) return failForOutput(build)
    throw error
  }
}

/**
 * Handles a report: finishes the build, or records that its runner is alive. Throws NotHeld when the build ended in the
 * meantime, and BadRequest for an unknown state.
 */
export async function report(build: HeldBuild, { state, failure_reason, exit_code, trace }: Report): Promise<void> {
  if (state !== undefined && !['pending', 'running', 'success', 'failed'].includes(state)) {
    throw new BadRequest('400 (Bad request) "state" must be running, success or failed')
  }
  const ends = state === 'success' || state === 'failed'
  if (trace !== undefined) {
    if (Buffer.byteLength(trace) > mostOfTrace()) return failForOutput(build)
    await replaceMasked(build, trace, ends)
  }
  if (!ends) return renew(build)
  if (trace === undefined) await endMasked(build)
  const result =
    state === 'success'
      ? { status: 'success' as const, exitCode: 0 }
      : { status: 'failed' as const, reason: reasonOf(failure_reason), exitCode: codeOf(exit_code) }
  const measured = await measureTrace({ build: build.buildId, attempt: build.attempt })
  if (!(await finishBuild(build, result, measured))) throw new NotHeld()
}

/** Returns START of `START-END`. Runner versions write different values for END, so it is ignored. */
function startOf(range: string | undefined): number {
  const start = /^\s*(?:bytes[ =]*)?(\d{1,15})-/i.exec(range ?? '')?.[1]
  if (start === undefined) throw new BadRequest('400 Missing header Content-Range')
  return Number(start)
}

/** Stock runners have their own limit, and end a trace that reaches it with one more line. */
const SPARE = 65_536
const mostOfTrace = () => config().runner.output_limit + SPARE

async function failForOutput(build: HeldBuild): Promise<never> {
  const key = { build: build.buildId, attempt: build.attempt }
  await endMasked(build, `\n${tooMuchOutput(config().runner.output_limit)}\n`)
  await finishBuild(build, { status: 'failed', reason: 'output_limit' }, await measureTrace(key))
  throw new NotHeld('failed')
}

async function renew(build: HeldBuild): Promise<void> {
  const left = build.leaseLeft ?? 0
  if (left < config().queue.lease * RENEWED_BELOW && !(await renewBuild(build))) throw new NotHeld()
}

/** Not specified: a failure without a reason is a script failure, and an unknown reason is an unknown failure. */
function reasonOf(value: string | undefined): FailureReason {
  if (value === undefined || value === '') return 'script_failure'
  return REASONS.find(reason => reason === value) ?? 'unknown_failure'
}

const codeOf = (value: number | undefined) =>
  value !== undefined && Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? value : undefined
