// Gives a runner the next build: a pending build of a project that the runner serves, whose tags the runner has. The
// built-in runner and external runners all claim builds here.
import { config } from '../../../config.js'
import { NotHere } from '../../../errors.js'
import { requestScope } from '../../../lib/request-scope.js'
import { type BuildClaim, type FoundBuild, findClaim, newBuildToken, takeBuild } from '../builds/claim.js'
import type { RunnerRow } from './runners.queries.js'
import { findAbandonedBuilds, findWaitingBuilds, storageElsewhere } from './waiting-builds.queries.js'

/** The maximum number of builds that one query returns as candidates. */
const CANDIDATES = 10
/** The maximum number of queries. A round yields no build when other runners claim all its candidates first. */
const ROUNDS = 20

export interface ClaimOptions {
  /** The token of the new claim. A runner that missed the response gets the same claim by a call with the same token. */
  readonly token?: string
  /** The worker process, for the built-in runner. */
  readonly processId?: number
}

/**
 * Claims the next build for a runner. Returns null when no build waits for this runner, or when the runner is paused. Throws NotHere when
 * another machine has to claim it, because it reads the repository.
 */
export async function claimNext(runner: RunnerRow, options: ClaimOptions = {}): Promise<BuildClaim | null> {
  const { token = newBuildToken(), processId = null } = options
  const known = options.token === undefined ? undefined : await findClaim(token)
  if (known) return known
  if (!runner.active) return null
  for (let round = 0; round < ROUNDS; round++) {
    const found = await findCandidates(runner)
    if (found.length === 0) return noneOrElsewhere(runner)
    for (const build of found) {
      const claim = await takeBuild(build, { runnerId: runner.id, processId, token, ...limitFor(runner) })
      if (claim) return claim
    }
  }
  return null
}

async function noneOrElsewhere(runner: RunnerRow): Promise<null> {
  const storage = requestScope.getStore()?.isPassedOn ? undefined : await storageElsewhere(runner)
  if (storage !== undefined) throw new NotHere(storage)
  return null
}

function limitFor({ is_shared: isShared }: RunnerRow): { mostOfProject?: number } {
  const { project_limit: most } = config().runner
  return isShared && most > 0 ? { mostOfProject: most } : {}
}

/** The built-in runner takes the builds of dead workers before pending builds. */
async function findCandidates(runner: RunnerRow): Promise<FoundBuild[]> {
  const abandoned = runner.built_in ? await findAbandonedBuilds(runner, CANDIDATES) : []
  return abandoned.length > 0 ? abandoned : findWaitingBuilds(runner, CANDIDATES)
}
