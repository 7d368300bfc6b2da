// Reads one job of a CI file.
import { type Defaults, inheritedVariables, SHARED_KEYS, withDefaults } from './config-defaults.js'
import { BUILD_WHENS, type CiJob, type CiVariable } from './config-types.js'
import {
  checkKeys,
  given,
  readChoice,
  readFlag,
  readList,
  readNumbers,
  readSection,
  readText,
  readVariables,
  reportAt,
  type Section
} from './config-values.js'
import { readEnvironment } from './keys/environment.js'
import { readMirror } from './keys/mirror.js'
import { readNeeds, readOuterNeeds } from './keys/needs.js'
import { expandParallel } from './keys/parallel.js'
import { readStartIn } from './keys/timing.js'
import { readTrigger } from './keys/trigger.js'
import { patternProblem } from './refs.js'
import { readRules } from './rules/read-rules.js'
import { readSelection } from './rules/selection.js'

const JOB_KEYS = [
  ...Object.values(SHARED_KEYS),
  'script',
  'stage',
  'type',
  'variables',
  'allow_failure',
  'when',
  'start_in',
  'only',
  'except',
  'rules',
  'needs',
  'environment',
  'dependencies',
  'coverage',
  'parallel',
  'resource_group',
  'inherit',
  'trigger'
]
/** Decided: keys of later versions that would change what a build does are refused by name. */
const LATER_KEYS = ['secrets', 'dast_configuration']
const IDLE_KEYS = ['release', 'pages', 'hooks', 'identity', 'run', 'manual_confirmation']

/** Returns the jobs in their canonical form. A wrong value is reported, and the default of the key replaces it. */
export function readJob(name: string, section: Section, defaults: Defaults): CiJob[] {
  checkKeys(section, JOB_KEYS, LATER_KEYS, IDLE_KEYS)
  const inherit = readSection(section, 'inherit')
  if (inherit) checkKeys(inherit, ['default', 'variables'], [])
  const when = readChoice(section, 'when', BUILD_WHENS, 'on_success')
  const own = readVariables(section)
  const mirrors = readMirror(section)
  const job: CiJob = {
    name,
    baseName: name,
    stage: readText(section, given(section, 'stage') === undefined ? 'type' : 'stage', 255) ?? 'test',
    script: mirrors === null ? readScript(section) : [],
    ...withDefaults(section, defaults),
    variables: mergeVariables(inheritedVariables(section, defaults.variables), own),
    ownVariables: own.map(({ key }) => key),
    ...readAllowFailure(section),
    when,
    startIn: readStartIn(section, when),
    ...readSelection(section),
    rules: readRules(section),
    needs: readNeeds(section),
    outerNeeds: readOuterNeeds(section),
    environment: readEnvironment(section),
    dependencies: readDependencies(section),
    coverage: readCoverage(section),
    parallel: null,
    resourceGroup: readText(section, 'resource_group', 255),
    trigger: readTrigger(section),
    mirrors
  }
  if (job.trigger && job.outerNeeds.length > 0) reportAt(section, 'needs', 'of other pipelines need a script')
  return expandParallel(section, job)
}

function readAllowFailure(section: Section): Pick<CiJob, 'allowFailure' | 'allowFailureCodes'> {
  if (!(given(section, 'allow_failure') instanceof Map)) {
    return { allowFailure: readFlag(section, 'allow_failure'), allowFailureCodes: [] }
  }
  const allowed = readSection(section, 'allow_failure')
  if (allowed) checkKeys(allowed, ['exit_codes'], [])
  const codes = allowed ? readNumbers(allowed, 'exit_codes', { least: 1, most: 255 }) : []
  if (allowed && codes.length === 0) reportAt(allowed, 'exit_codes', 'should be numbers from 1 to 255')
  return { allowFailure: false, allowFailureCodes: codes }
}

function readScript(section: Section): string[] {
  if (given(section, 'trigger') !== undefined) return []
  const script = readList(section, 'script', { single: true })
  if (script === undefined) reportAt(section, 'script', 'is missing')
  else if (script.length > 0 && script.every(line => line.trim() === '')) reportAt(section, 'script', 'is empty')
  else if (isEmptyList(given(section, 'script'))) reportAt(section, 'script', 'is empty')
  return script ?? []
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0

function readDependencies(section: Section): string[] | null {
  const names = readList(section, 'dependencies')
  return names ? [...new Set(names)] : null
}

function readCoverage(section: Section): string | null {
  const text = readText(section, 'coverage')
  if (text === null) return null
  const [, source] = /^\/(.+)\/$/s.exec(text) ?? []
  const problem = source === undefined ? 'should be a regular expression between slashes' : patternProblem(source)
  if (problem) reportAt(section, 'coverage', problem)
  return source ?? null
}

/** Merges two lists of variables; `over` wins. */
export function mergeVariables(under: readonly CiVariable[], over: readonly CiVariable[]): CiVariable[] {
  return [...new Map([...under, ...over].map(variable => [variable.key, variable])).values()]
}
