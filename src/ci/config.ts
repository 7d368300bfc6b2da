// Turns a CI file into its canonical form. For any text, the result is either a configuration or a list of errors.
import { checkConfig } from './config-check.js'
import { type Defaults, readDefaults, readJob } from './config-job.js'
import type { CiConfig, CiJob } from './config-types.js'
import {
  advice,
  kindOf,
  nameProblem,
  printable,
  type Report,
  readList,
  reportAt,
  type Section
} from './config-values.js'
import { expandedLimit, keyText, loadYaml, type Yaml, type YamlKey, type YamlMapping } from './load-yaml.js'
import { nearest } from './nearest.js'

export type * from './config-types.js'

/** Each error is `<path> <problem>`; colons join the parts of the path. */
export type ParsedConfig = { config: CiConfig; errors: [] } | { config: null; errors: string[] }

export const jobLimit = 500
const stageLimit = 100
const errorLimit = 50
const defaultStages = ['build', 'test', 'deploy']

const reserved = ['image', 'services', 'stages', 'types', 'before_script', 'after_script', 'variables', 'cache']
// Not specified: a job may have such a name. Without a script, we take it for the key of a later version.
const laterKeys = ['include', 'default', 'workflow', 'spec']

/** Parses, checks and completes a CI file. No text makes it throw; it gives all errors that it finds. */
export function parseConfig(text: string): ParsedConfig {
  const loaded = loadYaml(text)
  if (loaded.errors.length > 0) return { config: null, errors: loaded.errors }
  if (loaded.value === null) return { config: null, errors: ['config is empty'] }
  if (!(loaded.value instanceof Map)) return { config: null, errors: ['config should be a mapping of keys to values'] }
  const errors: string[] = []
  const report: Report = (path, problem) => errors.push(`${path} ${problem}`)
  const config = readRoot({ path: '', entries: loaded.value, report })
  if (config && errors.length === 0) checkConfig(config, report)
  if (config && errors.length === 0) return { config, errors: [] }
  return { config: null, errors: bounded(errors) }
}

function bounded(errors: string[]): string[] {
  if (errors.length <= errorLimit) return errors
  return [...errors.slice(0, errorLimit), `config has ${errors.length - errorLimit} more errors`]
}

function readRoot(root: Section): CiConfig | undefined {
  const stages = readStages(root)
  const defaults = readDefaults(root)
  const found = visibleJobs(root)
  if (found.length === 0) root.report('jobs', 'should contain at least one visible job')
  if (found.length > jobLimit) {
    root.report('jobs', `are ${found.length}, more than ${jobLimit}`)
    return undefined
  }
  const jobs = readJobs(root, found, defaults)
  return jobs && { stages, jobs }
}

function readStages(root: Section): string[] {
  const key = root.entries.get('stages') == null ? 'types' : 'stages'
  const stages = readList(root, key, { check: nameProblem })
  if (stages?.length === 0 && Array.isArray(root.entries.get(key))) reportAt(root, key, 'should not be empty')
  const unique = [...new Set(stages ?? defaultStages)]
  if (unique.length > stageLimit) reportAt(root, key, `are more than ${stageLimit}`)
  return unique
}

function visibleJobs(root: Section): [YamlKey, Yaml][] {
  return [...root.entries].filter(([key, value]) => {
    const name = keyText(key)
    if (reserved.includes(name)) return false
    if (!name.startsWith('.')) return true
    if (value === null) root.report(printable(name), 'should not be empty')
    return false
  })
}

/** All jobs; undefined when they are too large to be stored, with all that they inherit. */
function readJobs(root: Section, found: [YamlKey, Yaml][], defaults: Defaults): CiJob[] | undefined {
  const jobs: CiJob[] = []
  let size = 0
  for (const [key, value] of found) {
    const entries = jobEntries(root, key, value)
    if (!entries) continue
    const name = keyText(key)
    const job = readJob(name, { path: `jobs:${printable(name)}`, entries, report: root.report }, defaults)
    size += sizeOf(job)
    if (size > expandedLimit) {
      root.report('jobs', 'are too large together with what they inherit')
      return undefined
    }
    jobs.push(job)
  }
  return jobs
}

function jobEntries(root: Section, key: YamlKey, value: Yaml): YamlMapping | undefined {
  const name = keyText(key)
  const path = `jobs:${printable(name)}`
  const isJob = value instanceof Map && value.has('script')
  const problem = nameProblem(name)
  if (typeof key !== 'string') root.report(path, `has a name that is ${kindOf(key)}${advice(key)}`)
  else if (laterKeys.includes(name) && !isJob) root.report(name, 'is not supported by this service')
  else if (problem) root.report(path, `has a name that ${problem}`)
  else if (value instanceof Map && value.size > 0) return value
  else root.report(path, `should be a mapping with a script${hint(name)}`)
  return undefined
}

function hint(name: string): string {
  const meant = nearest(name, reserved)
  return meant === undefined ? '' : ` (did you mean \`${meant}\`?)`
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 16
  if (typeof value !== 'object' || value === null) return 16
  return Object.values(value).reduce<number>((sum, inner) => sum + sizeOf(inner), 16)
}
