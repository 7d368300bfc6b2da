// Ends a build that cannot start because something that it needs is missing or cannot be decrypted.
import { Undecryptable } from '../../../../errors.js'
import { measureTrace } from '../../../../storage/measure.js'
import { appendTrace, resetTrace } from '../../../../storage/traces.js'
import { type BuildClaim, finishBuild } from '../../builds/claim.js'
import { MissingDependency } from './outer-needs.js'

/** Returns whether an error of `describeBuild` would come again at every start of the build. */
export const isLasting = (error: unknown): error is MissingDependency | Undecryptable =>
  error instanceof MissingDependency || error instanceof Undecryptable

export async function endMissing(claim: BuildClaim, error: MissingDependency | Undecryptable): Promise<void> {
  const key = { build: claim.buildId, attempt: claim.attempt }
  await resetTrace(key)
  await appendTrace(key, Buffer.from(`ERROR: ${error.message.slice(0, 2000)}\n`))
  const reason = error instanceof MissingDependency ? 'missing_dependency_failure' : 'runner_system_failure'
  await finishBuild(claim, { status: 'failed', reason }, await measureTrace(key))
}
