// Reads `cache`: the files that runners keep between builds.
import { ARTIFACT_WHENS, CACHE_POLICIES, type CiCache } from '../config-types.js'
import {
  checkKeys,
  given,
  kindOf,
  pathOf,
  readChoice,
  readFlag,
  readList,
  readSection,
  readText,
  reportAt,
  type Section
} from '../config-values.js'

const MOST_CACHES = 4
const MOST_FALLBACKS = 5
/** The most files whose content determines the key of a cache. */
const MOST_KEY_FILES = 2
const PATH_LIMIT = 500

/** Reads the caches. An empty value switches off those that a job would inherit. */
export function readCaches(section: Section): CiCache[] {
  const value = given(section, 'cache')
  if (value === undefined) return []
  if (!Array.isArray(value)) {
    const cache = readSection(section, 'cache')
    return cache && cache.entries.size > 0 ? [readCache(cache)] : []
  }
  if (value.length > MOST_CACHES) reportAt(section, 'cache', `are more than ${MOST_CACHES}`)
  return value.slice(0, MOST_CACHES).flatMap((entry, at) => {
    const path = pathOf(section, `cache:${at + 1}`)
    if (entry instanceof Map) return [readCache({ ...section, path, entries: entry })]
    section.report(path, `should be a mapping, not ${kindOf(entry)}`)
    return []
  })
}

function readCache(cache: Section): CiCache {
  checkKeys(cache, ['key', 'untracked', 'paths', 'policy', 'when', 'fallback_keys', 'unprotect'], [])
  const fallbackKeys = readList(cache, 'fallback_keys') ?? []
  if (fallbackKeys.length > MOST_FALLBACKS) reportAt(cache, 'fallback_keys', `are more than ${MOST_FALLBACKS}`)
  return {
    ...readKey(cache),
    untracked: readFlag(cache, 'untracked'),
    paths: readList(cache, 'paths') ?? [],
    policy: readChoice(cache, 'policy', CACHE_POLICIES, 'pull-push'),
    when: readChoice(cache, 'when', ARTIFACT_WHENS, 'on_success'),
    fallbackKeys,
    unprotect: readFlag(cache, 'unprotect')
  }
}

function readKey(cache: Section): Pick<CiCache, 'key' | 'keyFiles'> {
  if (!(given(cache, 'key') instanceof Map)) return { key: readText(cache, 'key'), keyFiles: null }
  const key = readSection(cache, 'key')
  if (!key) return { key: null, keyFiles: null }
  checkKeys(key, ['files', 'prefix'], [])
  const files = readList(key, 'files', { check: pathProblem }) ?? []
  if (files.length === 0) reportAt(key, 'files', 'should name one or two files')
  if (files.length > MOST_KEY_FILES) reportAt(key, 'files', `are more than ${MOST_KEY_FILES}`)
  return { key: readText(key, 'prefix'), keyFiles: files }
}

function pathProblem(path: string): string | undefined {
  if (path.trim() === '') return 'should not be empty'
  if (path.length > PATH_LIMIT) return `is longer than ${PATH_LIMIT} characters`
  if (path.startsWith('/') || path.split('/').includes('..')) return 'should be the path of a file of the repository'
  return /[*?[]/.test(path) ? 'should be the path of one file, not a pattern' : undefined
}
