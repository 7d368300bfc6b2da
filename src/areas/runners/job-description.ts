// What a runner is told of the build that it has claimed, in no runner's own words: the built-in runner makes a job of its
// executor from it, and each protocol of outside runners its document.
import type { CiArtifacts, CiCache } from '../../ci/config-types.js'
import type { PlannedBuild } from '../../ci/plan.js'
import type { BuildVariable } from '../../ci/variables.js'
import { config } from '../../config.js'
import type { BuildClaim } from '../builds/claim.js'
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
  /** Proves who runs the build, and reads its project while it runs. */
  readonly token: string
  /** Where the project's repository lies is for the built-in runner alone. */
  readonly project: { readonly id: number; readonly name: string; readonly path: string; readonly storage: string }
  readonly source: JobSource
  /** Seconds, from the start to the end of the script. */
  readonly timeout: number
  /** Later entries may refer to earlier ones. */
  readonly variables: readonly BuildVariable[]
  readonly steps: readonly JobStep[]
  readonly image: string | null
  readonly services: readonly string[]
  readonly artifacts: CiArtifacts | null
  readonly cache: CiCache | null
  /** Builds whose artifacts are unpacked over the sources, in this order. */
  readonly dependencies: readonly DependencyRow[]
}

export interface JobSource {
  /** With the build's credentials. */
  readonly url: string
  readonly ref: string
  readonly tag: boolean
  readonly sha: string
  readonly beforeSha: string
  /** Commits of history; 0 is all. */
  readonly depth: number
}

export interface JobStep {
  readonly name: 'script' | 'after_script'
  readonly commands: readonly string[]
  /** Seconds. */
  readonly timeout: number
  readonly when: 'on_success' | 'always'
  /** Whether the build goes on, and may succeed, when the step fails. */
  readonly allowFailure: boolean
}

/** What is frozen in a build's row. */
type FrozenPlan = Pick<PlannedBuild, 'environment' | 'coverage' | 'options' | 'variables'>

/** Describes a claimed build to its runner; null when its project is gone. */
export async function describeBuild(claim: BuildClaim, runner: RunnerRow): Promise<JobDescription | null> {
  const build = await findDescribedBuild(claim.buildId)
  if (!build) return null
  const { options, variables } = JSON.parse(build.plan) as FrozenPlan
  const path = `${build.namespace_path}/${build.project_path}`
  return {
    id: build.id,
    name: build.name,
    stage: build.stage,
    pipelineId: build.pipeline_id,
    token: claim.token,
    project: { id: build.project_id, name: build.project_name, path, storage: build.storage },
    source: sourceOf(build, cloneUrl(path, claim.token)),
    timeout: config().runner.timeout,
    variables: await variablesOf(build, { token: claim.token, runner, configVariables: variables }),
    steps: stepsOf(options),
    image: options.image,
    services: options.services,
    artifacts: options.artifacts,
    cache: options.cache,
    dependencies: await findDependencies(build, options.dependencies)
  }
}

function sourceOf(build: DescribedBuild, url: string): JobSource {
  return {
    url,
    ref: build.ref,
    tag: build.tag === 1,
    sha: build.sha,
    beforeSha: build.before_sha,
    depth: config().runner.depth
  }
}

function stepsOf({ script, afterScript }: FrozenPlan['options']): JobStep[] {
  const main: JobStep = {
    name: 'script',
    commands: script,
    timeout: config().runner.timeout,
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
