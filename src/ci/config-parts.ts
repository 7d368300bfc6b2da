// Reads the keys whose value is itself a mapping: cache, artifacts, environment.
import { parseDuration } from '../lib/duration.js'
import {
  ARTIFACT_WHENS,
  CACHE_POLICIES,
  type CiArtifacts,
  type CiCache,
  type CiContainer,
  type CiEnvironment,
  type CiImage,
  ENVIRONMENT_ACTIONS
} from './config-types.js'
import {
  checkKeys,
  given,
  NAME_LIMIT,
  nameProblem,
  pathOf,
  readChoice,
  readFlag,
  readList,
  readSection,
  readText,
  reportAt,
  type Section
} from './config-values.js'

const MOST_FALLBACKS = 5

const isEmptyList = (section: Section, key: string) => {
  const value = given(section, key)
  return Array.isArray(value) && value.length === 0
}

/** The cache; undefined when the key is absent, null when an empty value switches it off. */
export function readCache(section: Section): CiCache | null | undefined {
  if (given(section, 'cache') === undefined) return undefined
  if (isEmptyList(section, 'cache')) return null
  const cache = readSection(section, 'cache')
  if (!cache || cache.entries.size === 0) return null
  checkKeys(cache, ['key', 'untracked', 'paths', 'policy', 'when', 'fallback_keys'], ['unprotect'])
  const fallbackKeys = readList(cache, 'fallback_keys') ?? []
  if (fallbackKeys.length > MOST_FALLBACKS) reportAt(cache, 'fallback_keys', `are more than ${MOST_FALLBACKS}`)
  return {
    key: readText(cache, 'key'),
    untracked: readFlag(cache, 'untracked'),
    paths: readList(cache, 'paths') ?? [],
    policy: readChoice(cache, 'policy', CACHE_POLICIES, 'pull-push'),
    when: readChoice(cache, 'when', ARTIFACT_WHENS, 'on_success'),
    fallbackKeys
  }
}

/** The image of the job; null when none is given. */
export function readImage(section: Section): CiImage | null {
  if (!(given(section, 'image') instanceof Map)) return readText(section, 'image', NAME_LIMIT)
  const image = readSection(section, 'image')
  if (!image) return null
  checkKeys(image, ['name', 'entrypoint'], [], ['docker', 'kubernetes', 'pull_policy'])
  return containerOf(image)
}

/** The containers beside that of the job. */
export function readServices(section: Section): CiImage[] {
  const value = given(section, 'services')
  if (!Array.isArray(value) || !value.some(entry => entry instanceof Map)) {
    return readList(section, 'services', { check: nameProblem }) ?? []
  }
  return value.flatMap((entry, at): CiImage[] => {
    const path = pathOf(section, `services:${at + 1}`)
    if (!(entry instanceof Map)) {
      const one = { ...section, entries: new Map([['services', [entry]]]) }
      return readList(one, 'services', { check: nameProblem }) ?? []
    }
    const service = { ...section, path, entries: entry }
    checkKeys(
      service,
      ['name', 'alias', 'entrypoint', 'command'],
      ['variables'],
      ['docker', 'kubernetes', 'pull_policy']
    )
    const container = containerOf(service)
    return container ? [container] : []
  })
}

function containerOf(section: Section): CiContainer | null {
  if (given(section, 'name') === undefined) reportAt(section, 'name', 'is missing')
  const name = readText(section, 'name', NAME_LIMIT)
  const words = (key: string) => readList(section, key, { check: wordProblem }) ?? null
  const container = { alias: readText(section, 'alias', NAME_LIMIT), entrypoint: words('entrypoint') }
  return name === null ? null : { name, ...container, command: words('command') }
}

const WORD_LIMIT = 4096
const wordProblem = (word: string) => (word.length > WORD_LIMIT ? `is longer than ${WORD_LIMIT} characters` : undefined)

export function readArtifacts(section: Section): CiArtifacts | null {
  if (isEmptyList(section, 'artifacts')) return null
  const artifacts = readSection(section, 'artifacts')
  if (!artifacts || artifacts.entries.size === 0) return null
  checkKeys(
    artifacts,
    ['name', 'paths', 'exclude', 'untracked', 'when', 'expire_in'],
    ['public', 'access'],
    ['reports', 'expose_as']
  )
  // All other reports are only shown; this one gives variables to later builds.
  const reports = artifacts.entries.get('reports')
  if (reports instanceof Map && reports.has('dotenv')) {
    reportAt(artifacts, 'reports', 'key `dotenv` is not supported by this service')
  }
  return {
    name: readText(artifacts, 'name', NAME_LIMIT),
    paths: readList(artifacts, 'paths', { check: pathProblem }) ?? [],
    exclude: readList(artifacts, 'exclude', { check: pathProblem }) ?? [],
    untracked: readFlag(artifacts, 'untracked'),
    when: readChoice(artifacts, 'when', ARTIFACT_WHENS, 'on_success'),
    expireIn: readExpiry(artifacts)
  }
}

/** Artifacts are collected below the project's directory and unpacked below another, so no path may lead out of it. */
function pathProblem(path: string): string | undefined {
  if (path.trim() === '') return 'should not be empty'
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path)) return 'should be relative to the project directory'
  return path.split(/[\\/]/).includes('..') ? 'should not contain `..`' : undefined
}

function readExpiry(artifacts: Section): number | null {
  const value = given(artifacts, 'expire_in')
  if (value === undefined || value === 'never') return null
  const isNumber = typeof value === 'object' && value !== null && 'number' in value
  const text = isNumber ? value.number : value
  const seconds = typeof text === 'string' ? parseDuration(text) : undefined
  if (seconds !== undefined && seconds > 0) return seconds
  reportAt(artifacts, 'expire_in', 'should be a duration such as `3 days`, or `never`')
  return null
}

export function readEnvironment(section: Section): CiEnvironment | null {
  const value = given(section, 'environment')
  if (typeof value === 'string') {
    const name = checkedName(section, 'environment', readText(section, 'environment', NAME_LIMIT))
    return name === null ? null : { name, url: null, action: 'start', onStop: null }
  }
  const environment = readSection(section, 'environment')
  if (!environment) return null
  checkKeys(
    environment,
    ['name', 'url', 'action', 'on_stop'],
    ['auto_stop_in', 'kubernetes', 'deployment'],
    ['deployment_tier']
  )
  if (given(environment, 'name') === undefined) reportAt(environment, 'name', 'is missing')
  const name = checkedName(environment, 'name', readText(environment, 'name', NAME_LIMIT))
  const url = readText(environment, 'url', NAME_LIMIT)
  const action = readChoice(environment, 'action', ENVIRONMENT_ACTIONS, 'start')
  const onStop = readText(environment, 'on_stop', NAME_LIMIT)
  return name === null ? null : { name, url, action, onStop }
}

function checkedName(section: Section, key: string, name: string | null): string | null {
  if (name === null || /^[A-Za-z0-9_\-/${}. ]+$/.test(name)) return name
  reportAt(section, key, 'should contain only letters, digits, spaces and - _ / $ { } .')
  return null
}
