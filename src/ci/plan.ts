// Plans the builds of a pipeline from a configuration and one event. A plan is final: later changes of the file never
// reach it, so it contains a copy of everything that a build needs.
import type { BuildWhen, CiArtifacts, CiCache, CiConfig, CiEnvironment, CiJob, CiVariable } from './config-types.js'
import { type RefContext, selector } from './refs.js'

export interface PlanContext extends RefContext {
  /** The message of the last commit of the ref. */
  readonly commitMessage: string
  /** Whether `[ci skip]` in the message counts: it does for a push, but not when somebody asks for a pipeline. */
  readonly honourSkip: boolean
}

export interface BuildOptions {
  /** The commands of before_script and script, which run in one shell. */
  readonly script: readonly string[]
  readonly afterScript: readonly string[]
  readonly artifacts: CiArtifacts | null
  /** The names of jobs whose artifacts the build needs; null means all jobs of earlier stages. */
  readonly dependencies: readonly string[] | null
  readonly image: string | null
  readonly services: readonly string[]
  readonly cache: CiCache | null
}

export interface PlannedBuild {
  readonly name: string
  readonly stage: string
  /** The index of the stage in the `stages` of the plan. */
  readonly stageIndex: number
  readonly when: BuildWhen
  readonly allowFailure: boolean
  readonly tagList: readonly string[]
  /** Name and URL are as written: their variables are not expanded yet. */
  readonly environment: CiEnvironment | null
  /** A regular expression without slashes. */
  readonly coverage: string | null
  readonly options: BuildOptions
  readonly variables: readonly CiVariable[]
}

/**
 * `stages` are all stages of the file. `builds` are in the order of their stages, and within a stage in the order of
 * the file. `empty` means that no job is selected.
 */
export type Plan =
  | { readonly kind: 'builds'; readonly stages: readonly string[]; readonly builds: readonly PlannedBuild[] }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'empty' }

/** The pipeline that the configuration gives for one ref and source. */
export function planPipeline(config: CiConfig, context: PlanContext): Plan {
  if (context.honourSkip && asksToSkip(context.commitMessage)) return { kind: 'skipped' }
  const builds = config.jobs
    .filter(selector(context))
    .map(job => planBuild(job, config.stages.indexOf(job.stage)))
    .sort((a, b) => a.stageIndex - b.stageIndex)
  return builds.length === 0 ? { kind: 'empty' } : { kind: 'builds', stages: config.stages, builds }
}

/** Whether a commit message contains `[ci skip]` or `[skip ci]`, in upper or lower case. */
export function asksToSkip(commitMessage: string): boolean {
  return /\[(?:ci skip|skip ci)\]/i.test(commitMessage)
}

function planBuild(job: CiJob, stageIndex: number): PlannedBuild {
  return {
    name: job.name,
    stage: job.stage,
    stageIndex,
    when: job.when,
    allowFailure: job.allowFailure,
    tagList: job.tags,
    environment: job.environment,
    coverage: job.coverage,
    options: {
      script: [...job.beforeScript, ...job.script],
      afterScript: job.afterScript,
      artifacts: job.artifacts,
      dependencies: job.dependencies,
      image: job.image,
      services: job.services,
      cache: job.cache
    },
    variables: job.variables
  }
}
