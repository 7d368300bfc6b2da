// Checks what needs all jobs together: stages, dependencies, and environments that another job stops.
import type { CiConfig, CiJob } from './config-types.js'
import { printable, type Report } from './config-values.js'

// The most expensive pattern takes a few milliseconds for one ref, and every push matches all patterns.
const expressionLimit = 200
const isExpression = (entry: string) => entry.startsWith('/')

/** Reports each job that refers to a stage, job or environment that does not exist or does not fit. */
export function checkConfig(config: CiConfig, report: Report): void {
  const jobs = new Map(config.jobs.map(job => [job.name, job]))
  const stageOf = new Map(config.stages.map((stage, index) => [stage, index]))
  const expressions = new Set(config.jobs.flatMap(job => [...job.only, ...job.except]).filter(isExpression))
  if (expressions.size > expressionLimit)
    report('jobs', `have ${expressions.size} regular expressions in only and except, more than ${expressionLimit}`)
  for (const job of config.jobs) {
    const tell = (problem: string) => report(`${printable(job.name)} job:`, problem)
    if (!stageOf.has(job.stage))
      tell(`unknown stage \`${printable(job.stage)}\` (the stages are ${list(config.stages)})`)
    checkDependencies(job, jobs, stageOf, tell)
    checkOnStop(job, jobs, tell)
  }
}

const list = (stages: string[]) => {
  const shown = stages.slice(0, 20).map(printable).join(', ')
  return stages.length > 20 ? `${shown} and more` : shown
}

type Jobs = ReadonlyMap<string, CiJob>
type Tell = (problem: string) => void

function checkDependencies(job: CiJob, jobs: Jobs, stageOf: ReadonlyMap<string, number>, tell: Tell): void {
  const own = stageOf.get(job.stage)
  for (const name of job.dependencies ?? []) {
    const needed = jobs.get(name)
    const stage = needed && stageOf.get(needed.stage)
    if (!needed) tell(`dependency \`${printable(name)}\` is not a job`)
    else if (own !== undefined && stage !== undefined && stage >= own)
      tell(`dependency \`${printable(name)}\` is not in an earlier stage`)
  }
}

function checkOnStop(job: CiJob, jobs: Jobs, tell: Tell): void {
  const name = job.environment?.onStop
  if (!job.environment || !name) return
  const stopper = jobs.get(name)
  const shown = `on_stop job \`${printable(name)}\``
  if (!stopper) tell(`${shown} is not a job`)
  else if (!stopper.environment) tell(`${shown} has no environment`)
  else if (stopper.environment.name !== job.environment.name) tell(`${shown} has another environment`)
  else if (stopper.environment.action !== 'stop') tell(`${shown} needs \`action: stop\` in its environment`)
}
