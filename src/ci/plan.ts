// Plans the builds of a pipeline from a configuration and one event. A plan is final: later changes of the file never
// reach it, so it contains a copy of everything that a build needs.
import type { BuildWhen, CiArtifacts, CiCache, CiConfig, CiEnvironment, CiJob, CiVariable } from './config-types.js'
import { type RefContext, selector } from './refs.js'

export type PlanContext = RefContext & {
  /** The message of the last commit of the ref. */
  commitMessage: string
  /** Whether `[ci skip]` in the message counts: it does for a push, but not when somebody asks for a pipeline. */
  honourSkip: boolean
}

export type BuildOptions = {
  /** The commands of before_script and script, which run in one shell. */
  script: string[]
  afterScript: string[]
  artifacts: CiArtifacts | null
  /** The names of jobs whose artifacts the build needs; null means all jobs of earlier stages. */
  dependencies: string[] | null
  image: string | null
  services: string[]
  cache: CiCache | null
}

export type PlannedBuild = {
  name: string
  stage: string
  /** The index of the stage in the `stages` of the plan. */
  stageIndex: number
  when: BuildWhen
  allowFailure: boolean
  tagList: string[]
  /** Name and URL are as written: their variables are not expanded yet. */
  environment: CiEnvironment | null
  /** A regular expression without slashes. */
  coverage: string | null
  options: BuildOptions
  variables: CiVariable[]
}

/**
 * `stages` are all stages of the file. `builds` are in the order of their stages, and within a stage in the order of
 * the file. `empty` means that no job is selected.
 */
export type Plan =
  | { kind: 'builds'; stages: string[]; builds: PlannedBuild[] }
  | { kind: 'skipped' }
  | { kind: 'empty' }

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
