// From a configuration and one event to the builds of a pipeline. What is planned is frozen: later changes of the file
// never reach it, so everything a build needs is copied here.
import type { BuildWhen, CiArtifacts, CiCache, CiConfig, CiEnvironment, CiJob, CiVariable } from './config-types.js'
import { type RefContext, selector } from './refs.js'

export type PlanContext = RefContext & {
  /** Of the commit at the tip. */
  commitMessage: string
  /** Whether `[ci skip]` in the message counts: on a push, not when somebody asks for a pipeline. */
  honourSkip: boolean
}

export type BuildOptions = {
  /** The commands of before_script and script, run in one shell. */
  script: string[]
  afterScript: string[]
  artifacts: CiArtifacts | null
  /** Names of jobs whose artifacts are wanted; null is all of earlier stages. */
  dependencies: string[] | null
  image: string | null
  services: string[]
  cache: CiCache | null
}

export type PlannedBuild = {
  name: string
  stage: string
  /** The stage's place in the plan's `stages`. */
  stageIndex: number
  when: BuildWhen
  allowFailure: boolean
  tagList: string[]
  /** Name and url are as written, with variables not yet expanded. */
  environment: CiEnvironment | null
  /** A regular expression without slashes. */
  coverage: string | null
  options: BuildOptions
  variables: CiVariable[]
}

/** `stages` are all that the file names, `builds` ordered by stage, then as in the file. `empty`: no job is selected. */
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

/** Whether a commit message holds `[ci skip]` or `[skip ci]`, in any letter case. */
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
