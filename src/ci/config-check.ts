// Checks rules that involve several jobs: stages, dependencies, needs, and environments that another job stops.

import { nearest } from '../lib/nearest.js'
import type { CiConfig, CiJob, CiNeed } from './config-types.js'
import { printable, type Report } from './config-values.js'
import { findCircle } from './keys/needs.js'

// The most expensive pattern takes a few milliseconds for one ref, and every push matches all patterns.
const EXPRESSION_LIMIT = 200
const isExpression = (entry: string) => entry.startsWith('/')
/** The most different files whose content determines keys of caches: each is looked up for each pipeline. */
const KEY_FILE_LIMIT = 100
/** The most different refs that `changes` compares with. */
const COMPARED_LIMIT = 10
/** The most needs of all jobs together, including those that `parallel` makes. */
const NEED_LIMIT = 20_000

interface Known {
  readonly config: CiConfig
  /** The jobs by name, and by the name of the job from which `parallel` made them. */
  readonly jobs: ReadonlyMap<string, readonly CiJob[]>
  readonly stageOf: ReadonlyMap<string, number>
}

type Tell = (problem: string) => void

/** Reports each job that refers to a stage, job or environment that does not exist or does not fit. */
export function checkConfig(config: CiConfig, report: Report): void {
  const jobs = jobsByName(config.jobs)
  const stageOf = new Map(config.stages.map((stage, index) => [stage, index]))
  const known = { config, jobs, stageOf }
  const expressions = new Set(config.jobs.flatMap(job => [...job.only, ...job.except]).filter(isExpression))
  if (expressions.size > EXPRESSION_LIMIT)
    report('jobs', `have ${expressions.size} regular expressions in only and except, more than ${EXPRESSION_LIMIT}`)
  const keyFiles = keyFilesOf(config.jobs).length
  if (keyFiles > KEY_FILE_LIMIT) {
    report('jobs', `have caches whose keys name ${keyFiles} files, more than ${KEY_FILE_LIMIT}`)
  }
  const rules = [...(config.workflow.rules ?? []), ...config.jobs.flatMap(job => job.rules ?? [])]
  const compared = new Set(rules.flatMap(({ compareTo }) => compareTo ?? [])).size
  if (compared > COMPARED_LIMIT) report('rules', `compare with ${compared} refs, more than ${COMPARED_LIMIT}`)
  for (const job of firstOfEach(config.jobs)) {
    const reportJob = (problem: string) => report(`${printable(job.name)} job:`, problem)
    if (!stageOf.has(job.stage))
      reportJob(`unknown stage \`${printable(job.stage)}\` (the stages are ${list(config.stages)})`)
    checkDependencies(job, known, reportJob)
    for (const needs of [job.needs, ...(job.rules ?? []).map(rule => rule.needs)])
      checkNeeds(job, needs, known, reportJob)
    checkOnStop(job, known, reportJob)
  }
  checkCircles(known, report)
}

/** The files whose content determines keys of caches. */
export const keyFilesOf = (jobs: readonly CiJob[]): string[] => [
  ...new Set(jobs.flatMap(({ caches }) => caches.flatMap(({ keyFiles }) => keyFiles ?? [])))
]

/** Groups the jobs by name. Two jobs may have the same name after `parallel` has made names. */
function jobsByName(all: readonly CiJob[]): Map<string, CiJob[]> {
  const jobs = new Map<string, CiJob[]>()
  for (const job of all) {
    for (const name of new Set([job.name, job.baseName])) jobs.set(name, [...(jobs.get(name) ?? []), job])
  }
  return jobs
}

/** `parallel` makes jobs with the same faults; checking one of them is enough. */
const firstOfEach = (jobs: readonly CiJob[]) => jobs.filter(({ parallel }) => parallel === null || parallel.index === 1)

const list = (stages: readonly string[]) => {
  const shown = stages.slice(0, 20).map(printable).join(', ')
  return stages.length > 20 ? `${shown} and more` : shown
}

function checkDependencies(job: CiJob, { jobs, stageOf }: Known, reportJob: Tell): void {
  const own = stageOf.get(job.stage)
  for (const name of job.dependencies ?? []) {
    const [needed] = jobs.get(name) ?? []
    const stage = needed && stageOf.get(needed.stage)
    if (!needed) reportJob(`dependency \`${printable(name)}\` is not a job`)
    else if (job.needs !== null) {
      if (!job.needs.some(need => need.job === name)) reportJob(`dependency \`${printable(name)}\` is not in its needs`)
    } else if (own !== undefined && stage !== undefined && stage >= own)
      reportJob(`dependency \`${printable(name)}\` is not in an earlier stage`)
  }
}

function checkNeeds(job: CiJob, needs: readonly CiNeed[] | null, { jobs, stageOf }: Known, reportJob: Tell): void {
  const own = stageOf.get(job.stage)
  for (const { job: name, optional } of needs ?? []) {
    const [needed] = jobs.get(name) ?? []
    const stage = needed && stageOf.get(needed.stage)
    if (!needed) {
      if (!optional) reportJob(`needs \`${printable(name)}\`, which is not a job${hint(name, jobs)}`)
    } else if (needed.baseName === job.baseName) reportJob('needs itself')
    else if (own !== undefined && stage !== undefined && stage > own) {
      reportJob(`needs \`${printable(name)}\`, which is in a later stage`)
    }
  }
}

function hint(name: string, jobs: Known['jobs']): string {
  const meant = nearest(name, [...jobs.keys()])
  return meant === undefined ? '' : ` (did you mean \`${printable(meant)}\`?)`
}

function checkCircles({ config, jobs }: Known, report: Report): void {
  const edges = new Map(config.jobs.map(job => [job.name, neededNames(job.needs ?? [], jobs)]))
  const total = [...edges.values()].reduce((sum, names) => sum + names.length, 0)
  if (total > NEED_LIMIT) report('jobs', `have ${total} needs together, more than ${NEED_LIMIT}`)
  const circle = total > NEED_LIMIT ? undefined : findCircle(edges)
  if (circle) report('jobs', `need each other in a circle: ${circle.slice(0, 12).map(printable).join(' → ')}`)
}

/** The names of the jobs in `jobs` to which needs refer. */
export const neededNames = (
  needs: readonly CiNeed[],
  jobs: ReadonlyMap<string, readonly { readonly name: string }[]>
): string[] => [...new Set(needs.flatMap(need => (jobs.get(need.job) ?? []).map(({ name }) => name)))]

function checkOnStop(job: CiJob, { jobs }: Known, reportJob: Tell): void {
  const name = job.environment?.onStop
  if (!job.environment || !name) return
  const [stopper] = jobs.get(name) ?? []
  const shown = `on_stop job \`${printable(name)}\``
  if (!stopper) reportJob(`${shown} is not a job`)
  else if (!stopper.environment) reportJob(`${shown} has no environment`)
  else if (stopper.environment.name !== job.environment.name) reportJob(`${shown} has another environment`)
  else if (stopper.environment.action !== 'stop') reportJob(`${shown} needs \`action: stop\` in its environment`)
}
