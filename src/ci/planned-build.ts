// Plans one build from its job, the rule that selected the job, and the variables.
import { createHash } from 'node:crypto'
import { neededNames } from './config-check.js'
import { mergeVariables } from './config-job.js'
import type {
  BuildWhen,
  CiArtifacts,
  CiCache,
  CiEnvironment,
  CiIdToken,
  CiImage,
  CiJob,
  CiOuterNeed,
  CiRetry,
  CiRule,
  CiTrigger,
  CiVariable
} from './config-types.js'
import { NAME_LIMIT, printable } from './config-values.js'
import { expandValues, layered, type Values, valuesOf } from './rules/evaluate.js'

export interface BuildOptions {
  /** The commands of before_script and script, which run in one shell. */
  readonly script: readonly string[]
  readonly afterScript: readonly string[]
  readonly artifacts: CiArtifacts | null
  /** The names of builds whose artifacts the build needs; null means all builds of earlier stages. */
  readonly dependencies: readonly string[] | null
  readonly image: CiImage | null
  readonly services: readonly CiImage[]
  readonly caches: readonly PlannedCache[]
  /** Builds of earlier versions lack this field. */
  readonly outerNeeds?: readonly CiOuterNeed[]
  readonly idTokens?: readonly CiIdToken[]
}

/** A cache whose key is final except for its variables. */
export type PlannedCache = Omit<CiCache, 'keyFiles'>

export interface PlannedBuild {
  readonly name: string
  readonly stage: string
  /** The index of the stage in the `stages` of the plan. */
  readonly stageIndex: number
  readonly when: BuildWhen
  readonly allowFailure: boolean
  readonly tagList: readonly string[]
  /** The names of the builds that must end before; null means all builds of earlier stages. */
  readonly needs: readonly string[] | null
  readonly interruptible: boolean
  /** Seconds; null without a limit in the file. */
  readonly timeout: number | null
  readonly resourceGroup: string | null
  /** Name and URL are as written: their variables are not expanded yet. */
  readonly environment: CiEnvironment | null
  /** A regular expression without slashes. */
  readonly coverage: string | null
  readonly options: BuildOptions
  readonly variables: readonly CiVariable[]
  readonly parallel: { readonly index: number; readonly total: number } | null
  readonly retry: CiRetry | null
  readonly startIn: number | null
  readonly allowFailureCodes: readonly number[]
  /** The pipeline that the build starts: no runner takes the build. */
  readonly trigger: CiTrigger | null
  /** The path of a project whose newest pipeline the build follows. */
  readonly mirrors?: string
}

/** The variables around a job. */
export interface JobContext {
  readonly weaker: Values
  readonly stronger: Values
  /** The variables of the rule that allowed the pipeline. */
  readonly ofWorkflow: readonly CiVariable[]
  /** The ids of files whose content determines keys of caches. */
  readonly fileIds: ReadonlyMap<string, string>
}

interface Chosen {
  readonly job: CiJob
  readonly rule: CiRule | null
}

type Names = ReadonlyMap<string, readonly CiJob[]>

/** The variables that the rules of a job see. */
export const valuesOfJob = (job: CiJob, context: JobContext): Values =>
  layered(
    context.weaker,
    valuesOf([
      { key: 'CI_JOB_NAME', value: job.name },
      { key: 'CI_JOB_STAGE', value: job.stage },
      ...variablesOf(job, context)
    ]),
    context.stronger
  )

/** The variables of the file: those of the workflow win over the global ones, and those of the job over both. */
function variablesOf(job: CiJob, { ofWorkflow }: JobContext): CiVariable[] {
  const own = new Set(job.ownVariables)
  return mergeVariables(
    job.variables,
    ofWorkflow.filter(({ key }) => !own.has(key))
  )
}

/** The needs that the pipeline cannot meet. */
export function missingNeeds({ job, rule }: Chosen, names: Names): string[] {
  const needs = rule?.needs ?? job.needs ?? []
  return needs
    .filter(({ job: name, optional }) => !optional && !names.has(name))
    .map(need => `${printable(job.name)} job: needs \`${printable(need.job)}\`, which is not in this pipeline`)
}

export function planBuild({ job, rule }: Chosen, names: Names, stageIndex: number, context: JobContext): PlannedBuild {
  const variables = mergeVariables(variablesOf(job, context), rule?.variables ?? [])
  const replace = (text: string) => replaced(text, () => layered(context.weaker, valuesOf(variables), context.stronger))
  const needs = rule?.needs ?? job.needs
  const when = rule?.when ?? job.when
  return {
    name: job.name,
    stage: job.stage,
    stageIndex,
    when: when === 'never' ? 'on_success' : when,
    allowFailure: rule?.allowFailure ?? job.allowFailure,
    tagList: [...new Set(job.tags.map(replace).filter(Boolean))],
    needs: needs && neededNames(needs, names),
    interruptible: rule?.interruptible ?? job.interruptible,
    timeout: job.timeout,
    resourceGroup: (job.resourceGroup && replace(job.resourceGroup)) || null,
    environment: job.environment,
    coverage: job.coverage,
    options: {
      script: [...job.beforeScript, ...job.script],
      afterScript: job.afterScript,
      artifacts: job.artifacts,
      dependencies: dependenciesOf(job, needs, names),
      image: job.image,
      services: job.services,
      caches: job.caches.map(cache => withKey(cache, context.fileIds)),
      ...(job.outerNeeds.length > 0 && { outerNeeds: job.outerNeeds.map(need => outerNeed(need, replace)) }),
      ...(job.idTokens.length > 0 && { idTokens: job.idTokens })
    },
    variables,
    parallel: job.parallel,
    retry: job.retry,
    // Builds that start or follow pipelines wait for a job, not for a runner. No other build waits zero seconds.
    startIn: job.trigger || job.mirrors !== null ? 0 : when === 'delayed' ? (rule?.startIn ?? job.startIn) : null,
    trigger: job.trigger,
    ...(job.mirrors !== null && { mirrors: replace(job.mirrors) }),
    allowFailureCodes: rule?.allowFailure === null || rule === null ? job.allowFailureCodes : []
  }
}

const outerNeed = (need: CiOuterNeed, replace: (text: string) => string): CiOuterNeed => ({
  ...need,
  job: replace(need.job),
  project: need.project && replace(need.project),
  ref: need.ref && replace(need.ref),
  pipeline: need.pipeline && replace(need.pipeline)
})

/**
 * Not specified: the key is derived from the content of the files, so that equal files have equal caches on all branches. When
 * none of the files exists, it ends with `default`.
 */
function withKey({ keyFiles, ...cache }: CiCache, fileIds: JobContext['fileIds']): PlannedCache {
  if (keyFiles === null) return cache
  const ids = keyFiles.flatMap(path => fileIds.get(path) ?? [])
  const end = ids.length === 0 ? 'default' : createHash('sha256').update(ids.join('\n')).digest('hex').slice(0, 40)
  return { ...cache, key: cache.key === null ? end : `${cache.key}-${end}` }
}

/** A text with its variables replaced. Most texts have none. */
const replaced = (text: string, values: () => Values): string =>
  text.includes('$') ? expandValues(text, values()).slice(0, NAME_LIMIT) : text

/** Artifacts come from `dependencies`, or else from the needs that ask for them, or else from all earlier stages. */
function dependenciesOf(job: CiJob, needs: CiJob['needs'], names: Names): string[] | null {
  if (needs === null) return job.dependencies && namesAmong(job.dependencies, names)
  const wanted = needs.filter(need => need.artifacts && (job.dependencies?.includes(need.job) ?? true))
  return neededNames(wanted, names)
}

const namesAmong = (wanted: readonly string[], names: Names): string[] =>
  neededNames(
    wanted.map(job => ({ job, artifacts: true, optional: true })),
    names
  )
