// Turns a CI file into its canonical form. For any text, the result is either a configuration or a list of errors.

import { nearest } from '../lib/nearest.js'
import { checkConfig } from './config-check.js'
import { type Defaults, isJob, readDefaults } from './config-defaults.js'
import { readJob } from './config-job.js'
import type { CiConfig, CiJob } from './config-types.js'
import {
  advice,
  kindOf,
  nameProblem,
  printable,
  type Report,
  readList,
  readVariables,
  reportAt,
  type Section
} from './config-values.js'
import { readWorkflow } from './keys/workflow.js'
import { EXPANDED_LIMIT, keyText, type Yaml, type YamlKey, type YamlMapping } from './load-yaml.js'
import { resolveExtends } from './resolve/extends.js'
import { type CiFiles, includesFiles, resolveIncludes } from './resolve/include.js'
import { loadFile } from './resolve/inputs.js'
import { MERGE_LIMIT, type MergeBudget, MergesTooMuch } from './resolve/merge.js'
import { resolveReferences } from './resolve/references.js'

export type * from './config-types.js'
export type { CiFiles } from './resolve/include.js'

/** Each error is `<path> <problem>`; colons join the parts of the path. Warnings have the same form, and are harmless. */
export type ParsedConfig =
  | { readonly config: CiConfig; readonly errors: readonly []; readonly warnings: readonly string[] }
  | { readonly config: null; readonly errors: readonly string[]; readonly warnings: readonly string[] }

const JOB_LIMIT = 1000
const STAGE_LIMIT = 100
const ERROR_LIMIT = 50
const DEFAULT_STAGES = ['build', 'test', 'deploy']
const [FIRST_STAGE, LAST_STAGE] = ['.pre', '.post']

const RESERVED = ['image', 'services', 'stages', 'types', 'before_script', 'after_script', 'variables', 'cache']
/** Not specified: a job may have such a name. Without a script, it is the key of a later version. */
const LATER_RESERVED = ['include', 'default', 'workflow']
const LATER_KEYS = ['spec']

/**
 * Parses, checks and completes a CI file, with the files of the repository that it includes; null stands for no repository. It
 * never throws because of the text; it returns all errors that it finds.
 */
export async function readConfig(text: string, files: CiFiles | null): Promise<ParsedConfig> {
  const { root, errors } = loadRoot(text)
  if (!root) return refuse(errors)
  const messages = newMessages()
  try {
    const budget = { left: MERGE_LIMIT }
    const whole = await resolveIncludes(root, { files, report: messages.report, warn: messages.warn, budget })
    return readWhole(whole, budget, messages)
  } catch (error) {
    if (error instanceof MergesTooMuch) return refuse([`config ${error.message}`])
    throw error
  }
}

/** The same for a file that includes no other files. */
export function parseConfig(text: string): ParsedConfig {
  const { root, errors } = loadRoot(text)
  if (!root) return refuse(errors)
  if (includesFiles(root)) return refuse(['include can be read only together with the repository'])
  try {
    return readWhole(root, { left: MERGE_LIMIT }, newMessages())
  } catch (error) {
    if (error instanceof MergesTooMuch) return refuse([`config ${error.message}`])
    throw error
  }
}

function loadRoot(text: string): { root: YamlMapping | null; errors: readonly string[] } {
  const loaded = loadFile(text, null)
  if (loaded.errors.length > 0) return { root: null, errors: loaded.errors }
  if (loaded.value === null) return { root: null, errors: ['config is empty'] }
  if (loaded.value instanceof Map) return { root: loaded.value, errors: [] }
  return { root: null, errors: ['config should be a mapping of keys to values'] }
}

interface Messages {
  readonly errors: string[]
  readonly warnings: Set<string>
  readonly report: Report
  readonly warn: Report
}

function newMessages(): Messages {
  const errors: string[] = []
  const warnings = new Set<string>()
  return {
    errors,
    warnings,
    report: (path, problem) => errors.push(`${path} ${problem}`),
    warn: (path, problem) => warnings.add(`${path} ${problem}`)
  }
}

const refuse = (errors: readonly string[], warnings: readonly string[] = []): ParsedConfig => ({
  config: null,
  errors,
  warnings
})

function readWhole(
  whole: YamlMapping,
  budget: MergeBudget,
  { errors, warnings, report, warn }: Messages
): ParsedConfig {
  const extended = resolveExtends(whole, report, budget)
  const entries = resolveReferences(extended, report, budget)
  const config = readRoot({ path: '', entries, report, warn })
  if (config && errors.length === 0) checkConfig(config, report)
  const told = bounded([...warnings])
  if (config && errors.length === 0) return { config, errors: [], warnings: told }
  return refuse(bounded(errors), told)
}

function bounded(errors: string[]): string[] {
  if (errors.length <= ERROR_LIMIT) return errors
  return [...errors.slice(0, ERROR_LIMIT), `config has ${errors.length - ERROR_LIMIT} more errors`]
}

function readRoot(root: Section): CiConfig | undefined {
  const stages = readStages(root)
  const defaults = { ...readDefaults(root), variables: readVariables(root) }
  const workflow = readWorkflow(root)
  const found = visibleJobs(root)
  if (found.length === 0) root.report('jobs', 'should contain at least one visible job')
  if (found.length > JOB_LIMIT) {
    root.report('jobs', `are ${found.length}, more than ${JOB_LIMIT}`)
    return undefined
  }
  const jobs = readJobs(root, found, defaults)
  return jobs && { stages: withEdges(stages, jobs), jobs, variables: defaults.variables, workflow }
}

/** The two stages before and after all others. They exist when a job names them. */
function withEdges(stages: readonly string[], jobs: readonly CiJob[]): string[] {
  const used = (stage: string) => (jobs.some(job => job.stage === stage) ? [stage] : [])
  const others = stages.filter(stage => stage !== FIRST_STAGE && stage !== LAST_STAGE)
  return [...used(FIRST_STAGE), ...others, ...used(LAST_STAGE)]
}

function readStages(root: Section): string[] {
  const key = root.entries.get('stages') == null ? 'types' : 'stages'
  const stages = readList(root, key, { check: nameProblem })
  if (stages?.length === 0 && Array.isArray(root.entries.get(key))) reportAt(root, key, 'should not be empty')
  const unique = [...new Set(stages ?? DEFAULT_STAGES)]
  if (unique.length > STAGE_LIMIT) reportAt(root, key, `are more than ${STAGE_LIMIT}`)
  return unique
}

function visibleJobs(root: Section): [YamlKey, Yaml][] {
  return [...root.entries].filter(([key, value]) => {
    const name = keyText(key)
    if (RESERVED.includes(name) || (LATER_RESERVED.includes(name) && !isJob(value))) return false
    if (!name.startsWith('.')) return true
    if (value === null) root.report(printable(name), 'should not be empty')
    return false
  })
}

/** Reads all jobs; undefined when they are too large to be stored, with all that they inherit. */
function readJobs(root: Section, found: [YamlKey, Yaml][], defaults: Defaults): CiJob[] | undefined {
  const jobs: CiJob[] = []
  let size = 0
  for (const [key, value] of found) {
    const entries = jobEntries(root, key, value)
    if (!entries) continue
    const name = keyText(key)
    const made = readJob(name, { ...root, path: `jobs:${printable(name)}`, entries }, defaults)
    size += sizeOf(made)
    if (size > EXPANDED_LIMIT) {
      root.report('jobs', 'are too large together with what they inherit')
      return undefined
    }
    jobs.push(...made)
    if (jobs.length > JOB_LIMIT) {
      root.report('jobs', `are more than ${JOB_LIMIT}, with those that \`parallel\` makes`)
      return undefined
    }
  }
  return jobs
}

function jobEntries(root: Section, key: YamlKey, value: Yaml): YamlMapping | undefined {
  const name = keyText(key)
  const path = `jobs:${printable(name)}`
  const problem = nameProblem(name)
  if (typeof key !== 'string') root.report(path, `has a name that is ${kindOf(key)}${advice(key)}`)
  else if (LATER_KEYS.includes(name) && !isJob(value))
    root.report(name, 'is in a separate document, before a line `---`')
  else if (problem) root.report(path, `has a name that ${problem}`)
  else if (value instanceof Map && value.size > 0) return value
  else root.report(path, `should be a mapping with a script${hint(name)}`)
  return undefined
}

function hint(name: string): string {
  const meant = nearest(name, [...RESERVED, ...LATER_RESERVED])
  return meant === undefined ? '' : ` (did you mean \`${meant}\`?)`
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 16
  if (typeof value !== 'object' || value === null) return 16
  return Object.values(value).reduce<number>((sum, inner) => sum + sizeOf(inner), 16)
}
