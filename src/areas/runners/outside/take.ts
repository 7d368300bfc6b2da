// Hands builds to outside runners, on the claim path of the built-in runner. An outside runner never takes over a build.
import { log } from '../../../log.js'
import { type BuildClaim, finishBuild } from '../../builds/claim.js'
import { claimNext } from '../claim-next.js'
import { describeBuild, type JobDescription } from '../job-description.js'
import type { OutsideRunner } from '../runners.queries.js'
import { noteContact } from './contact.js'
import { rememberToken } from './masked-traces.js'

/** Claims the next build for a runner. Returns null when none waits for it, or the runner is paused. */
export async function takeNext(runner: OutsideRunner, info: unknown): Promise<JobDescription | null> {
  await noteContact(runner, info)
  // Hundreds of runners ask every few seconds, mostly in vain: then finding the runner was all.
  if (!runner.work) return null
  const claim = await claimNext(runner)
  if (!claim) return null
  rememberToken({ build: claim.buildId, attempt: claim.attempt }, claim.token)
  const description = await describe(claim, runner)
  return description && { ...description, timeout: Math.min(description.timeout, runner.maximum_timeout ?? Infinity) }
}

/** Nobody else would end a build that its runner never hears of. */
async function describe(claim: BuildClaim, runner: OutsideRunner): Promise<JobDescription | null> {
  try {
    return await describeBuild(claim, runner)
  } catch (error) {
    log().error({ error, build: claim.buildId }, 'a build cannot be described to its runner')
    await finishBuild(claim, { status: 'failed', reason: 'runner_system_failure' }, { size: 0, sha256: null })
    return null
  }
}
