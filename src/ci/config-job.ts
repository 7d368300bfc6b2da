// Reads one job of a CI file.
import { readArtifacts, readCache, readEnvironment } from './config-parts.js'
import { buildWhens, type CiCache, type CiJob, type CiVariable } from './config-types.js'
import {
  checkKeys,
  given,
  nameProblem,
  readChoice,
  readFlag,
  readList,
  readText,
  readVariables,
  reportAt,
  type Section
} from './config-values.js'
import { patternProblem, refPatternProblem } from './refs.js'

/** The values that a job inherits for keys that it does not have. Variables are merged; other keys are replaced. */
export type Defaults = {
  beforeScript: string[]
  afterScript: string[]
  image: string | null
  services: string[]
  cache: CiCache | null
  variables: CiVariable[]
}

export const jobKeys = [
  'script',
  'before_script',
  'after_script',
  'stage',
  'type',
  'image',
  'services',
  'variables',
  'cache',
  'tags',
  'allow_failure',
  'when',
  'only',
  'except',
  'environment',
  'artifacts',
  'dependencies',
  'coverage'
]

const laterKeys = [
  'rules',
  'needs',
  'extends',
  'parallel',
  'retry',
  'timeout',
  'interruptible',
  'resource_group',
  'trigger',
  'inherit',
  'secrets',
  'id_tokens',
  'release',
  'pages',
  'hooks',
  'identity',
  'run',
  'start_in',
  'manual_confirmation',
  'dast_configuration'
]

/** Reads the keys that both a job and the root of the file may have. */
export function readDefaults(section: Section): Defaults {
  return {
    beforeScript: readList(section, 'before_script', { single: true }) ?? [],
    afterScript: readList(section, 'after_script', { single: true }) ?? [],
    image: readText(section, 'image', 255),
    services: readList(section, 'services', { check: nameProblem }) ?? [],
    cache: readCache(section) ?? null,
    variables: readVariables(section)
  }
}

/** The job in its canonical form. A wrong value is reported, and the default of the key replaces it. */
export function readJob(name: string, section: Section, defaults: Defaults): CiJob {
  checkKeys(section, jobKeys, laterKeys)
  const own = readDefaults(section)
  const inherits = (key: string) => given(section, key) === undefined
  return {
    name,
    stage: readText(section, inherits('stage') ? 'type' : 'stage', 255) ?? 'test',
    script: readScript(section),
    beforeScript: (inherits('before_script') ? defaults : own).beforeScript,
    afterScript: (inherits('after_script') ? defaults : own).afterScript,
    image: (inherits('image') ? defaults : own).image,
    services: (inherits('services') ? defaults : own).services,
    cache: (inherits('cache') ? defaults : own).cache,
    variables: mergeVariables(defaults.variables, own.variables),
    tags: [...new Set(readList(section, 'tags', { check: nameProblem }))],
    allowFailure: readFlag(section, 'allow_failure'),
    when: readChoice(section, 'when', buildWhens, 'on_success'),
    only: readList(section, 'only', { check: refPatternProblem }) ?? [],
    except: readList(section, 'except', { check: refPatternProblem }) ?? [],
    environment: readEnvironment(section),
    artifacts: readArtifacts(section),
    dependencies: readDependencies(section),
    coverage: readCoverage(section)
  }
}

function readScript(section: Section): string[] {
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

function mergeVariables(under: CiVariable[], over: CiVariable[]): CiVariable[] {
  const merged = new Map([...under, ...over].map(({ key, value }) => [key, value]))
  return [...merged].map(([key, value]) => ({ key, value }))
}
