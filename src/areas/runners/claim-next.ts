// A runner asks for a build and gets the one whose turn it is: pending, of a project that it serves, with tags that it
// has. All runners claim here, the built-in one and outside ones.
import { type BuildClaim, type FoundBuild, findClaim, newBuildToken, takeBuild } from '../builds/claim.js'
import type { RunnerRow } from './runners.queries.js'
import { findAbandonedBuilds, findWaitingBuilds } from './waiting-builds.queries.js'

/** How many builds are tried before the database is asked for others. */
const CANDIDATES = 10
/** Each round without a build means that others took those that were found. */
const ROUNDS = 20

export interface ClaimOptions {
  /** Of the new claim. Asking again with the same token gives the same claim: so one whose answer was lost. */
  readonly token?: string
  /** The worker process, for the built-in runner. */
  readonly processId?: number
}

/** Takes the next build for a runner; null when none waits for it, or the runner is paused. */
export async function claimNext(runner: RunnerRow, options: ClaimOptions = {}): Promise<BuildClaim | null> {
  const { token = newBuildToken(), processId = null } = options
  const known = options.token === undefined ? undefined : await findClaim(token)
  if (known) return known
  if (!runner.active) return null
  for (let round = 0; round < ROUNDS; round++) {
    const found = await findCandidates(runner)
    if (found.length === 0) return null
    for (const build of found) {
      const claim = await takeBuild(build, { runnerId: runner.id, processId, token })
      if (claim) return claim
    }
  }
  return null
}

/** Builds that a worker of the built-in runner left behind come before those that have not begun. */
async function findCandidates(runner: RunnerRow): Promise<FoundBuild[]> {
  const abandoned = runner.built_in ? await findAbandonedBuilds(runner, CANDIDATES) : []
  return abandoned.length > 0 ? abandoned : findWaitingBuilds(runner, CANDIDATES)
}
