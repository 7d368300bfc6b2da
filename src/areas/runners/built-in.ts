// The built-in runner: takes the next build, gives it to the executor with everything that it needs from outside, ends it.
import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '../../errors.js'
import { checkoutCommit } from '../../git/checkout.js'
import { log } from '../../log.js'
import { executeBuild } from '../../runner/execute.js'
import { makeWorkFolder } from '../../runner/folders.js'
import type { RunnerJob, RunnerPort } from '../../runner/job.js'
import { appendTrace, resetTrace, traceSize } from '../../storage/traces.js'
import { version } from '../../version.js'
import { type ArtifactsRow, openArtifactsOf, storeArtifacts } from '../builds/artifacts.js'
import { type BuildClaim, finishBuild, newBuildToken, releaseBuild, renewBuild } from '../builds/claim.js'
import { repositoryPath } from '../projects/repositories.js'
import { builtInRunner } from './built-in-runner.js'
import { claimNext } from './claim-next.js'
import { describeBuild, type JobDescription } from './job-description.js'
import type { RunnerRow } from './runners.queries.js'

/** How often a running build is looked at for a cancel, and its lease renewed. */
const LOOK_MS = 2000
const AWAY_MS = 500
/** Seconds for each step of a checkout. */
const CHECKOUT_TIMEOUT = 600

/**
 * Runs the build whose turn it is, from its claim to its end; does nothing when no build waits. `stop` gives the build
 * back for another worker.
 */
export async function runNextBuild(processId: number, stop: AbortSignal): Promise<void> {
  const token = newBuildToken()
  const runner = await whenAvailable(builtInRunner, stop)
  const claim = await whenAvailable(() => claimNext(runner, { token, processId }), stop)
  if (claim) await runClaimed(claim, runner, stop)
}

async function runClaimed(claim: BuildClaim, runner: RunnerRow, stop: AbortSignal): Promise<void> {
  const lost = new AbortController()
  const look = setInterval(() => void lookAfter(claim, lost), LOOK_MS)
  const key = { build: claim.buildId, attempt: claim.attempt }
  const signal = AbortSignal.any([lost.signal, stop])
  try {
    await resetTrace(key)
    const description = await whenAvailable(() => describeBuild(claim, runner), signal)
    if (!description) return
    const result = await executeBuild(jobOf(description), await portOf(description, claim, signal))
    if (result.error) log().warn({ build: claim.buildId, error: result.error }, 'a build stumbled')
    // A worker that stops leaves the build running: its wake-up goes back, and the next worker begins the build again.
    if (stop.aborted && !lost.signal.aborted) throw new Error('the worker stopped while the build ran')
    const size = await traceSize(key)
    await whenAvailable(() => finishBuild(claim, result, size), stop)
  } catch (error) {
    // Where this fails as well, the lease ends by itself.
    await releaseBuild(claim, stop.aborted).catch(() => undefined)
    throw error
  } finally {
    clearInterval(look)
  }
}

/** Waits for a database that is away: a build that has run is not to be lost, or failed, for that. */
async function whenAvailable<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
    }
    await sleep(AWAY_MS, undefined, { signal })
  }
}

async function lookAfter(claim: BuildClaim, lost: AbortController): Promise<void> {
  try {
    if (!(await renewBuild(claim))) lost.abort()
  } catch (error) {
    log().warn({ build: claim.buildId, error: String(error) }, 'a build could not be looked after')
  }
}

/** What the executor makes of a description. */
function jobOf({ id, timeout, variables, steps, artifacts, token }: JobDescription): RunnerJob {
  const commandsOf = (step: 'script' | 'after_script') => [...(steps.find(({ name }) => name === step)?.commands ?? [])]
  return {
    id,
    timeout,
    variables: [...variables],
    script: commandsOf('script'),
    afterScript: commandsOf('after_script'),
    artifacts: artifacts && { ...artifacts, name: artifacts.name ?? 'artifacts' },
    header: [`Running with Gitstead ${version} on the built-in runner`],
    secrets: [token]
  }
}

/** The built-in runner has repositories, artifacts and traces at hand, and asks nobody for them. */
async function portOf(description: JobDescription, claim: BuildClaim, signal: AbortSignal): Promise<RunnerPort> {
  const { project, source, dependencies, artifacts } = description
  const { ref, tag, sha, depth } = source
  const key = { build: claim.buildId, attempt: claim.attempt }
  return {
    workFolder: await makeWorkFolder(),
    getSources: (into, stop) =>
      checkoutCommit(repositoryPath(project), { sha, ref, tag, depth, into, timeout: CHECKOUT_TIMEOUT, signal: stop }),
    dependencies: dependencies.map(build => ({ name: build.name, open: () => openDependency(build) })),
    writeTrace: async chunk => void (await appendTrace(key, chunk)),
    putArtifacts: archive => whenAvailable(() => storeArtifacts(claim, archive, artifacts?.expireIn ?? null), signal),
    signal
  }
}

async function openDependency(build: ArtifactsRow & { name: string }) {
  const archive = await openArtifactsOf(build)
  if (!archive) throw new Error(`the artifacts of ${build.name} are gone`)
  return archive.stream
}
