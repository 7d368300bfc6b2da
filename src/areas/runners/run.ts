// The built-in runner: takes a build, gives it to the executor with everything that it needs from outside, ends it.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PlannedBuild } from '../../ci/plan.js'
import { buildVariables } from '../../ci/variables.js'
import { config, publicUrl } from '../../config.js'
import { Unavailable } from '../../errors.js'
import { checkoutCommit } from '../../git/checkout.js'
import { readCommit } from '../../git/commits.js'
import { log } from '../../log.js'
import { executeBuild } from '../../runner/execute.js'
import { makeWorkFolder } from '../../runner/folders.js'
import type { RunnerJob, RunnerPort } from '../../runner/job.js'
import { appendTrace, resetTrace, traceSize } from '../../storage/traces.js'
import { version } from '../../version.js'
import { openArtifactsOf, storeArtifacts } from '../builds/artifacts.js'
import { type BuildClaim, claimBuild, finishBuild, newBuildToken, releaseBuild, renewBuild } from '../builds/claim.js'
import { repositoryPath } from '../projects/repositories.js'
import { type DependencyRow, type DueBuild, findDependencies, findDueBuild } from './run.queries.js'

type Frozen = Pick<PlannedBuild, 'environment' | 'coverage' | 'options' | 'variables'>

/** How often a running build is looked at for a cancel, and its lease renewed. */
const LOOK_MS = 2000
const AWAY_MS = 500
const VISIBILITY = new Map([
  [0, 'private'],
  [10, 'internal'],
  [20, 'public']
] as const)

/** Runs a build to its end, unless somebody else does or it was canceled. `stop` gives it back for another worker. */
export async function runBuild(buildId: number, processId: number, stop: AbortSignal): Promise<void> {
  const token = newBuildToken()
  const claim = await whenAvailable(() => claimBuild(buildId, processId, token), stop)
  if (!claim) return
  const lost = new AbortController()
  const look = setInterval(() => void lookAfter(claim, lost), LOOK_MS)
  const key = { build: claim.buildId, attempt: claim.attempt }
  const signal = AbortSignal.any([lost.signal, stop])
  try {
    await resetTrace(key)
    const build = await whenAvailable(() => findDueBuild(buildId), signal)
    if (!build) return
    const { job, port } = await whenAvailable(() => describe(build, claim, signal), signal)
    const result = await executeBuild(job, port)
    if (result.error) log().warn({ build: buildId, error: result.error }, 'a build stumbled')
    // A worker that stops leaves the build running: its job goes back, and the next worker begins it again.
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

async function describe(build: DueBuild, claim: BuildClaim, signal: AbortSignal) {
  const frozen = JSON.parse(build.plan) as Frozen
  const variables = await variablesOf(build, claim, frozen)
  return { job: jobOf(build, claim, frozen, variables), port: await portOf(build, claim, frozen, signal) }
}

function jobOf(build: DueBuild, claim: BuildClaim, { options }: Frozen, variables: RunnerJob['variables']): RunnerJob {
  return {
    id: build.id,
    timeout: config().runner.timeout,
    variables,
    script: options.script,
    afterScript: options.afterScript,
    artifacts: options.artifacts && { ...options.artifacts, name: options.artifacts.name ?? 'artifacts' },
    header: [`Running with Gitstead ${version} on the built-in runner`],
    secrets: [claim.token]
  }
}

async function portOf(build: DueBuild, claim: BuildClaim, frozen: Frozen, signal: AbortSignal): Promise<RunnerPort> {
  const repository = repositoryPath({ id: build.project_id, storage: build.storage })
  const key = { build: claim.buildId, attempt: claim.attempt }
  const dependencies = await findDependencies(build, frozen.options.dependencies)
  const expireIn = frozen.options.artifacts?.expireIn ?? null
  return {
    workFolder: await makeWorkFolder(),
    getSources: (into, stop) =>
      checkoutCommit(repository, {
        sha: build.sha,
        ref: build.ref,
        tag: build.tag === 1,
        depth: config().runner.depth,
        into,
        timeout: 600,
        signal: stop
      }),
    dependencies: dependencies.map(dependency => ({ name: dependency.name, open: () => openDependency(dependency) })),
    writeTrace: async chunk => void (await appendTrace(key, chunk)),
    putArtifacts: archive => whenAvailable(() => storeArtifacts(claim, archive, expireIn), signal),
    signal
  }
}

async function openDependency(dependency: DependencyRow) {
  const archive = await openArtifactsOf(dependency)
  if (!archive) throw new Error(`the artifacts of ${dependency.name} are gone`)
  return archive.stream
}

async function variablesOf(build: DueBuild, claim: BuildClaim, frozen: Frozen) {
  const repository = repositoryPath({ id: build.project_id, storage: build.storage })
  const commit = await readCommit(repository, build.sha)
  const path = `${build.namespace_path}/${build.project_path}`
  return buildVariables({
    build: {
      id: build.id,
      name: build.name,
      stage: build.stage,
      ref: build.ref,
      tag: build.tag === 1,
      sha: build.sha,
      beforeSha: build.before_sha,
      manual: build.start_when === 'manual',
      token: claim.token,
      repositoryUrl: cloneUrl(path, claim.token),
      environment: null
    },
    commit: {
      message: commit?.message ?? '',
      author: commit ? `${commit.authorName} <${commit.authorEmail}>` : '',
      timestamp: commit?.committedDate.toISOString() ?? ''
    },
    pipeline: { id: build.pipeline_id, source: build.source },
    project: {
      id: build.project_id,
      path: build.project_path,
      namespace: build.namespace_path,
      name: build.project_name,
      url: `${publicUrl()}/${path}`,
      visibility: VISIBILITY.get(build.visibility_level as 0 | 10 | 20) ?? 'private',
      defaultBranch: build.default_branch
    },
    server: { name: 'Gitstead', version, revision: version, url: publicUrl() },
    runner: null,
    user:
      build.user_id === null
        ? null
        : {
            id: build.user_id,
            email: build.user_email ?? '',
            login: build.user_username ?? '',
            name: build.user_name ?? ''
          },
    configVariables: frozen.variables,
    projectVariables: [],
    triggerVariables: []
  })
}

function cloneUrl(path: string, token: string): string {
  const url = new URL(join('/', `${path}.git`), `${publicUrl()}/`)
  url.username = 'gitlab-ci-token'
  url.password = token
  return url.href
}
