// Describes a claimed build to its runner, independently of any runner protocol. The built-in runner converts the
// description to a job of its executor, and each protocol of external runners converts it to its own document.
import type { CiArtifacts, CiImage } from '../../../ci/config-types.js'
import type { BuildOptions, PlannedBuild, PlannedCache } from '../../../ci/plan.js'
import type { BuildVariable } from '../../../ci/variables.js'
import { config } from '../../../config.js'
import { resolveCommit } from '../../../git/refs/refs.js'
import { findProtections } from '../../code/refs/protected-branches.queries.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import type { BuildClaim } from '../builds/claim.js'
import { findOuter } from './downstream/outer-needs.js'
import {
  type DependencyRow,
  type DescribedBuild,
  findDependencies,
  findDescribedBuild
} from './job-description.queries.js'
import { cloneUrl, variablesOf } from './job-variables.js'
import type { RunnerRow } from './runners.queries.js'

/** Seconds. */
const AFTER_SCRIPT_TIMEOUT = 300

export interface JobDescription {
  readonly id: number
  readonly name: string
  readonly stage: string
  readonly pipelineId: number
  /** Identifies the claim, and gives read access to the project while the build runs. */
  readonly token: string
  /** Only the built-in runner uses `storage`, the place of the repository. */
  readonly project: { readonly id: number; readonly name: string; readonly path: string; readonly storage: string }
  readonly source: JobSource
  /** The time limit in seconds, from the start to the end of the script. */
  readonly timeout: number
  /** Later entries may refer to earlier ones. */
  readonly variables: readonly BuildVariable[]
  readonly steps: readonly JobStep[]
  readonly image: CiImage | null
  readonly services: readonly CiImage[]
  readonly artifacts: CiArtifacts | null
  readonly caches: readonly JobCache[]
  /** Builds whose artifacts are unpacked over the sources, in this order. */
  readonly dependencies: readonly DependencyRow[]
}

/** A cache whose keys all get the same suffix. */
export interface JobCache extends PlannedCache {
  readonly ending: 'protected' | 'non_protected'
}

interface JobSource {
  /** The URL contains the credentials of the build. */
  readonly url: string
  readonly ref: string
  readonly tag: boolean
  /** Whether the repository still has the tag, and it points to the commit. */
  readonly tagStands: boolean
  readonly sha: string
  readonly beforeSha: string
  /** The number of commits to fetch; 0 fetches the whole history. */
  readonly depth: number
}

interface JobStep {
  readonly name: 'script' | 'after_script'
  readonly commands: readonly string[]
  /** Seconds. */
  readonly timeout: number
  readonly when: 'on_success' | 'always'
  /** Whether the build continues, and can still succeed, when the step fails. */
  readonly allowFailure: boolean
}

/** The part of the plan that a build's row stores. */
type FrozenPlan = Pick<PlannedBuild, 'environment' | 'coverage' | 'options' | 'variables'> &
  // Builds of earlier versions lack it.
  Partial<Pick<PlannedBuild, 'parallel'>>

/**
 * Returns the description of a claimed build for its runner; null when the build was removed with its project. Throws
 * MissingDependency.
 */
export async function describeBuild(claim: BuildClaim, runner: RunnerRow): Promise<JobDescription | null> {
  const build = await findDescribedBuild(claim.buildId)
  if (!build) return null
  const { options, variables, environment, parallel = null } = JSON.parse(build.plan) as FrozenPlan
  const path = `${build.namespace_path}/${build.project_path}`
  const { dependencies } = options
  const timeout = timeoutOf(build, runner)
  const sources = {
    ...{ token: claim.token, runner, configVariables: variables, environment, parallel, dependencies },
    signed: { tokens: options.idTokens ?? [], timeout: Math.min(timeout, runner.maximum_timeout ?? timeout) }
  }
  return {
    id: build.id,
    name: build.name,
    stage: build.stage,
    pipelineId: build.pipeline_id,
    token: claim.token,
    project: { id: build.project_id, name: build.project_name, path, storage: build.storage },
    source: await sourceOf(build, cloneUrl(path, claim.token)),
    timeout,
    variables: await variablesOf(build, sources),
    steps: stepsOf(options, timeout),
    image: options.image,
    services: options.services,
    artifacts: options.artifacts,
    caches: await cachesOf(build, options),
    dependencies: [...(await findDependencies(build, dependencies)), ...(await findOuter(build, options.outerNeeds))]
  }
}

/** A plan of an earlier version has at most one cache. */
interface OfEarlierVersions extends Partial<BuildOptions> {
  readonly cache?: Partial<PlannedCache> | null
}

/** Builds of protected branches have their own caches, so that nobody else can write to them. The CI file writes the same keys for both. */
async function cachesOf(build: DescribedBuild, { caches, cache }: OfEarlierVersions): Promise<JobCache[]> {
  const planned = caches ?? (cache ? [{ ...NO_CACHE, ...cache }] : [])
  if (planned.length === 0) return []
  const isProtected = build.tag === 0 && (await findProtections(build.project_id)).of(build.ref) !== null
  return planned.map(each => ({ ...each, ending: isProtected && !each.unprotect ? 'protected' : 'non_protected' }))
}

const NO_CACHE: PlannedCache = {
  ...{ key: null, untracked: false, paths: [], policy: 'pull-push', when: 'on_success' },
  ...{ fallbackKeys: [], unprotect: false }
}

async function sourceOf(build: DescribedBuild, url: string): Promise<JobSource> {
  const repository = repositoryPath({ id: build.project_id, storage: build.storage })
  const tagged = build.tag === 1 ? await resolveCommit(repository, `refs/tags/${build.ref}`) : null
  return {
    url,
    ref: build.ref,
    tag: build.tag === 1,
    tagStands: tagged?.id === build.sha,
    sha: build.sha,
    beforeSha: build.before_sha,
    depth: config().runner.depth
  }
}

/** The CI file may set a shorter or longer time limit, up to the limit of the runner. */
function timeoutOf({ timeout }: DescribedBuild, runner: RunnerRow): number {
  const usual = config().runner.timeout
  return runner.built_in ? Math.min(timeout ?? usual, usual) : (timeout ?? usual)
}

function stepsOf({ script, afterScript }: FrozenPlan['options'], timeout: number): JobStep[] {
  const main: JobStep = {
    name: 'script',
    commands: script,
    timeout,
    when: 'on_success',
    allowFailure: false
  }
  if (afterScript.length === 0) return [main]
  return [
    main,
    {
      name: 'after_script',
      commands: afterScript,
      timeout: AFTER_SCRIPT_TIMEOUT,
      when: 'always',
      allowFailure: true
    }
  ]
}
