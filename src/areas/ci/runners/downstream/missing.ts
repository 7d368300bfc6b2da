// Ends a build that cannot start because something that it needs is missing.
import { measureTrace } from '../../../../storage/measure.js'
import { appendTrace, resetTrace } from '../../../../storage/traces.js'
import { type BuildClaim, finishBuild } from '../../builds/claim.js'
import type { MissingDependency } from './outer-needs.js'

export async function endMissing(claim: BuildClaim, { message }: MissingDependency): Promise<void> {
  const key = { build: claim.buildId, attempt: claim.attempt }
  await resetTrace(key)
  await appendTrace(key, Buffer.from(`ERROR: ${message.slice(0, 2000)}\n`))
  await finishBuild(claim, { status: 'failed', reason: 'missing_dependency_failure' }, await measureTrace(key))
}
