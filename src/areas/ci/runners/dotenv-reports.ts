// The reported variables of a build apply to later builds, and to the URL of its own environment.
import type { PlannedBuild } from '../../../ci/plan.js'
import { buildVariables } from '../../../ci/variables.js'
import type { BuildHold } from '../builds/claim.js'
import { reportOf, storeReportedVariables } from '../builds/reported-variables.js'
import { renewAddress } from '../environments/resolve.js'
import { findDescribedBuild } from './job-description.queries.js'
import { inputOf } from './job-variables.js'

/** Stores the variables that a running build reports. Returns false when the claim no longer holds the build. Throws Invalid. */
export async function receiveReport(claim: BuildHold, text: Uint8Array): Promise<boolean> {
  if (!(await storeReportedVariables(claim, text))) return false
  const build = await findDescribedBuild(claim.buildId)
  const { environment = null, variables = [], options } = (build ? JSON.parse(build.plan) : {}) as Partial<PlannedBuild>
  if (!build || !environment?.url?.includes('$') || build.environment_name === null) return true
  const sources = {
    ...{ token: '', runner: null, environment, parallel: null },
    ...{ configVariables: variables, dependencies: options?.dependencies ?? null }
  }
  const input = await inputOf(build, sources, build.environment_name)
  const reportedVariables = [...(input.reportedVariables ?? []), ...(await reportOf(claim))]
  const { environment_name: name, environment_slug: slug } = build
  await renewAddress(build.id, environment.url, [
    ...buildVariables({ ...input, reportedVariables }),
    { key: 'CI_ENVIRONMENT_NAME', value: name },
    { key: 'CI_ENVIRONMENT_SLUG', value: slug ?? '' }
  ])
  return true
}
