// The built-in runner: claims the next build, runs it in the executor with everything that it needs, and finishes it.
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { NotHere, Unavailable } from '../../../errors.js'
import { GitAway } from '../../../git/process/run.js'
import { checkoutCommands, sendObjects } from '../../../git/repository/checkout.js'
import { log } from '../../../log.js'
import { executeBuild } from '../../../runner/execute.js'
import { FolderLost, makeWorkFolder } from '../../../runner/folders.js'
import type { CacheStore, RunnerJob, RunnerPort, SourcesPlace } from '../../../runner/job.js'
import { largestCache, openCache, putCache, removeCache } from '../../../storage/caches.js'
import { measureTrace } from '../../../storage/measure.js'
import { appendTrace, resetTrace } from '../../../storage/traces.js'
import { fullVersion } from '../../../version.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { type ArtifactsRow, openArtifactsOf, storeArtifacts } from '../builds/artifacts.js'
import { type BuildClaim, finishBuild, newBuildToken, releaseBuild, renewBuild } from '../builds/claim.js'
import { hiddenValues } from '../variables/hidden-values.js'
import { builtInRunner } from './built-in-runner.js'
import { claimNext } from './claim-next.js'
import { containerOf, containerOwner, requireEngine } from './containers.js'
import { receiveReport } from './dotenv-reports.js'
import { endMissing, isLasting } from './downstream/missing.js'
import { describeBuild, type JobDescription } from './job-description.js'
import type { RunnerRow } from './runners.queries.js'

/**
 * Milliseconds between renewals of the lease of a running build. A refused renewal shows that the build was canceled,
 * perhaps on another machine: a cancel on this one wakes the worker.
 */
const LOOK_MS = 2000
const AWAY_MS = 500
/** Seconds for the objects of a checkout. */
const CHECKOUT_TIMEOUT = 600

/**
 * Claims the next build and runs it until it ends. Does nothing when no build is waiting. When `stop` aborts, it
 * releases the build for another worker, and throws.
 */
export async function runNextBuild(processId: number, stop: AbortSignal): Promise<void> {
  const token = newBuildToken()
  await whenAvailable(requireEngine, stop)
  const runner = await whenAvailable(builtInRunner, stop)
  const claim = await whenAvailable(() => claimNext(runner, { token, processId }), stop)
  if (claim) await runClaimed(claim, runner, { processId, stop })
}

/** Checks all builds that this process runs at once: one of them may have been canceled. */
export function lookAfterBuilds(): void {
  for (const look of lookers) look()
}

const lookers = new Set<() => void>()

async function runClaimed(
  claim: BuildClaim,
  runner: RunnerRow,
  { processId, stop }: { processId: number; stop: AbortSignal }
): Promise<void> {
  const lost = new AbortController()
  const looker = () => void lookAfter(claim, lost)
  lookers.add(looker)
  const look = setInterval(looker, LOOK_MS)
  const key = { build: claim.buildId, attempt: claim.attempt }
  const signal = AbortSignal.any([lost.signal, stop])
  try {
    await resetTrace(key)
    const description = await whenAvailable(() => describeBuild(claim, runner), signal)
    if (!description) return
    const result = await executeBuild(jobOf(description, processId), await portOf(description, claim, signal))
    if (result.error) log().warn({ build: claim.buildId, error: result.error }, 'a build had an internal error')
    // When the worker stops, the build stays running. The error returns its wake-up to the queue, and the next worker
    // starts the build again.
    if (stop.aborted && !lost.signal.aborted) throw new Error('the worker stopped while the build ran')
    // The repository has moved to another machine, whose worker starts the build again.
    if (result.error instanceof FolderLost || result.error instanceof NotHere) throw result.error
    const trace = await measureTrace(key)
    await whenAvailable(() => finishBuild(claim, result, trace), stop)
  } catch (error) {
    if (isLasting(error)) return await endMissing(claim, error)
    // If this fails as well, the lease expires.
    await releaseBuild(claim, stop.aborted).catch(() => undefined)
    throw error
  } finally {
    clearInterval(look)
    lookers.delete(looker)
  }
}

/**
 * Retries `work` while the database, the bucket or the container engine is unavailable, so that an outage neither loses nor fails a build.
 * Throws NotHere: the repository may never come back to this machine.
 */
async function whenAvailable<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Unavailable) || error instanceof NotHere) throw error
    }
    await sleep(AWAY_MS, undefined, { signal })
  }
}

async function lookAfter(claim: BuildClaim, lost: AbortController): Promise<void> {
  try {
    if (!(await renewBuild(claim))) lost.abort()
  } catch (error) {
    log().warn({ build: claim.buildId, error: String(error) }, 'the lease of a build could not be renewed')
  }
}

/** Converts a job description to a job of the executor. */
function jobOf({ id, timeout, variables, steps, artifacts, token, ...job }: JobDescription, worker: number): RunnerJob {
  const commandsOf = (step: 'script' | 'after_script') => [...(steps.find(({ name }) => name === step)?.commands ?? [])]
  return {
    id,
    timeout,
    variables: [...variables],
    script: commandsOf('script'),
    afterScript: commandsOf('after_script'),
    artifacts: artifacts && { ...artifacts, name: artifacts.name ?? 'artifacts' },
    caches: job.caches,
    header: [`Running with Gitstead ${fullVersion} on the built-in runner`],
    secrets: [token, ...hiddenValues(variables.filter(variable => variable.masked))],
    image: job.image === null ? null : containerOf(job.image),
    services: job.services.map(containerOf),
    owner: containerOwner(worker)
  }
}

/** The built-in runner reads and writes repositories, artifacts and traces directly, without the API. */
async function portOf(description: JobDescription, claim: BuildClaim, signal: AbortSignal): Promise<RunnerPort> {
  const { project, source, dependencies, artifacts } = description
  const key = { build: claim.buildId, attempt: claim.attempt }
  return {
    workFolder: await makeWorkFolder(),
    getSources: place => getSources(project, source, place),
    cacheStore: cachesOf(project.id),
    dependencies: dependencies.map(build => ({
      name: build.name,
      copyTo: (path, signal) => whenAvailable(() => copyDependency(build, path, signal), signal)
    })),
    writeTrace: async chunk => void (await appendTrace(key, chunk)),
    putArtifacts: async archive =>
      void (await whenAvailable(() => storeArtifacts(claim, archive, artifacts?.expireIn ?? null), signal)),
    putVariables: async text => void (await whenAvailable(() => receiveReport(claim, text), signal)),
    signal
  }
}

function cachesOf(project: number): CacheStore | undefined {
  const limit = largestCache()
  if (limit === 0) return undefined
  return {
    limit,
    open: async name => (await openCache({ project, ...name }))?.stream,
    put: (name, archive) => putCache({ project, ...name }, archive),
    remove: name => removeCache({ project, ...name })
  }
}

/** Throws NotHere when the storage leaves this machine in between, whose git processes end then. */
async function getSources(
  project: JobDescription['project'],
  source: JobDescription['source'],
  { run, link, signal }: SourcesPlace
): Promise<void> {
  const repository = repositoryPath(project)
  let sent: Promise<void> | undefined
  const exitCode = await run(checkoutCommands(source, link), socket => {
    sent = sendObjects(repository, socket, { timeout: CHECKOUT_TIMEOUT, signal })
    sent.catch(() => undefined)
  })
  if (exitCode !== 0) repositoryPath(project)
  // The error of the sending side is more specific.
  await sent?.catch(error => {
    // This machine may have got the storage back since.
    throw error instanceof GitAway ? new NotHere(project.storage) : error
  })
  if (exitCode !== 0) throw new Error(`the checkout ended with exit code ${exitCode}`)
}

async function copyDependency(build: ArtifactsRow & { name: string }, path: string, signal: AbortSignal) {
  const archive = await openArtifactsOf(build)
  if (!archive) throw new Error(`the artifacts of ${build.name} no longer exist`)
  await pipeline(archive.stream, createWriteStream(path, { mode: 0o600 }), { signal })
}
