// Plans the builds of a pipeline from a configuration and one event. A plan is final: later changes of the file do not affect it,
// so it contains a copy of everything that a build needs.
import { keyFilesOf } from './config-check.js'
import type { CiConfig, CiJob, CiRule, CiVariable, NewCommitAction } from './config-types.js'
import { NAME_LIMIT, printable } from './config-values.js'
import { findCircle } from './keys/needs.js'
import { type JobContext, missingNeeds, type PlannedBuild, planBuild, valuesOfJob } from './planned-build.js'
import { type RefContext, selector } from './refs.js'
import {
  expandValues,
  layered,
  type RuleFacts,
  type RuleJudge,
  RulesTooLarge,
  ruleJudge,
  type Values,
  valuesOf
} from './rules/evaluate.js'

export type { BuildOptions, PlannedBuild, PlannedCache } from './planned-build.js'

export interface PlanContext extends RefContext {
  /** The message of the last commit of the ref. */
  readonly commitMessage: string
  /** Whether `[ci skip]` in the message counts: it does for a push, but not when a user requests a pipeline. */
  readonly honourSkip: boolean
  /** The predefined variables of the pipeline. Those of the file win over them. */
  readonly predefined?: readonly CiVariable[]
  /** The variables of the project and of the trigger. They win over those of the file. */
  readonly stronger?: readonly CiVariable[]
  /** The facts that `changes` and `exists` use. Without them, nothing has changed and no file exists. */
  readonly facts?: RuleFacts
  /** The ids of the files whose content determines keys of caches, by path. */
  readonly fileIds?: ReadonlyMap<string, string>
}

/**
 * `stages` are all stages of the file. `builds` are in the order of their stages, and within a stage in the order of the file.
 * `empty` means that no job is selected, `refused` that the selected jobs do not fit together.
 */
export type Plan =
  | {
      readonly kind: 'builds'
      readonly stages: readonly string[]
      readonly builds: readonly PlannedBuild[]
      readonly onNewCommit: NewCommitAction
      /** Whether the first failure cancels the rest. */
      readonly stopsOnFailure: boolean
      readonly name: string | null
    }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'refused'; readonly errors: readonly string[] }

/** Returns the pipeline that the configuration defines for one ref and source. */
export function planPipeline(config: CiConfig, context: PlanContext): Plan {
  if (context.honourSkip && asksToSkip(context.commitMessage)) return { kind: 'skipped' }
  try {
    return planSelected(config, context)
  } catch (error) {
    if (error instanceof RulesTooLarge) return { kind: 'refused', errors: [`jobs ${error.message}`] }
    throw error
  }
}

/** Whether a commit message contains `[ci skip]` or `[skip ci]`, in upper or lower case. */
function asksToSkip(commitMessage: string): boolean {
  return /\[(?:ci skip|skip ci)\]/i.test(commitMessage)
}

/** Returns what a configuration depends on besides the ref, so that nothing else must be read. */
export function inputsNeeded({ jobs, workflow }: CiConfig) {
  const rules = [...(workflow.rules ?? []), ...jobs.flatMap(rulesOf)]
  const named = workflow.name === null ? [] : [workflow.name]
  const names = jobs.flatMap(({ tags, resourceGroup, outerNeeds, mirrors }) => [
    ...[...tags, resourceGroup ?? '', mirrors ?? ''],
    ...outerNeeds.flatMap(({ job, project, ref, pipeline }) => [job, project ?? '', ref ?? '', pipeline ?? ''])
  ])
  return {
    variables: rules.length > 0 || [...named, ...names].some(name => name.includes('$')),
    ...factsNeeded(rules),
    keyFiles: keyFilesOf(jobs)
  }
}

/** Returns what rules depend on besides variables. */
export const factsNeeded = (rules: readonly CiRule[]) => ({
  changes: rules.some(({ changes, compareTo }) => changes !== null && compareTo === null),
  exists: rules.some(({ exists }) => exists !== null),
  compareTo: [...new Set(rules.flatMap(({ compareTo }) => compareTo ?? []))]
})
export type FactsNeeded = ReturnType<typeof factsNeeded>

const rulesOf = ({ rules, onlyRule, exceptRules }: CiJob) => [
  ...(rules ?? []),
  ...(onlyRule ? [onlyRule] : []),
  ...exceptRules
]

function planSelected(config: CiConfig, context: PlanContext): Plan {
  const judge = ruleJudge(context.facts ?? { changed: [], files: [] })
  const [weaker, stronger] = [valuesOf(context.predefined ?? []), valuesOf(context.stronger ?? [])]
  const { rules } = config.workflow
  const allowed = rules ? judge.choose(rules, layered(weaker, valuesOf(config.variables), stronger)) : null
  if (allowed === undefined || allowed?.when === 'never') return { kind: 'empty' }
  const fileIds = context.fileIds ?? new Map<string, string>()
  const ofJobs = { weaker, stronger, ofWorkflow: allowed?.variables ?? [], fileIds }
  const selected = selectJobs(config, selector(context), ofJobs, judge)
  // Jobs of only the two outer stages do not make a pipeline.
  if (!selected.some(({ job }) => job.stage !== '.pre' && job.stage !== '.post')) return { kind: 'empty' }
  const names = namesOf(selected)
  const stageOf = new Map(config.stages.map((stage, index) => [stage, index]))
  const builds = selected.map(one => planBuild(one, names, stageOf.get(one.job.stage) ?? 0, ofJobs))
  const errors = selected.flatMap(one => missingNeeds(one, names))
  const circle = findCircle(new Map(builds.map(build => [build.name, build.needs ?? []])))
  if (circle) errors.push(`jobs need each other in a circle: ${circle.slice(0, 12).map(printable).join(' → ')}`)
  if (errors.length > 0) return { kind: 'refused', errors: errors.slice(0, 50) }
  builds.sort((a, b) => a.stageIndex - b.stageIndex)
  const { onNewCommit, stopsOnFailure, name } = config.workflow
  const values = layered(weaker, valuesOf(config.variables), valuesOf(ofJobs.ofWorkflow), stronger)
  return { kind: 'builds', stages: config.stages, builds, onNewCommit, stopsOnFailure, name: replaced(name, values) }
}

/** Not specified: a name that is empty once its variables are replaced counts as absent. */
const replaced = (name: string | null, values: Values): string | null =>
  (name && expandValues(name, values).trim().slice(0, NAME_LIMIT)) || null

interface Selected {
  readonly job: CiJob
  /** The rule that selected the job; null without rules. */
  readonly rule: CiRule | null
}

function selectJobs(
  config: CiConfig,
  selects: ReturnType<typeof selector>,
  context: JobContext,
  judge: RuleJudge
): Selected[] {
  return config.jobs.flatMap((job): Selected[] => {
    if (job.rules === null) return selects(job) && meetsConditions(job, context, judge) ? [{ job, rule: null }] : []
    const rule = judge.choose(job.rules, valuesOfJob(job, context))
    return rule && (rule.when ?? job.when) !== 'never' ? [{ job, rule }] : []
  })
}

/** Returns whether a job whose refs fit also meets the conditions of `only` and `except`. */
function meetsConditions(job: CiJob, context: JobContext, judge: RuleJudge): boolean {
  if (job.onlyRule === null && job.exceptRules.length === 0) return true
  const values = valuesOfJob(job, context)
  return (job.onlyRule === null || judge.holds(job.onlyRule, values)) && !judge.choose(job.exceptRules, values)
}

/** The selected jobs by name, and by the name of the job from which `parallel` made them. */
function namesOf(selected: readonly Selected[]): Map<string, CiJob[]> {
  const names = new Map<string, CiJob[]>()
  for (const { job } of selected) {
    for (const name of new Set([job.name, job.baseName])) {
      const known = names.get(name)
      if (known) known.push(job)
      else names.set(name, [job])
    }
  }
  return names
}
