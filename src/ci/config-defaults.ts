// The keys that a job inherits from the root of the file, or from `default`, when it lacks them.
import type { CiArtifacts, CiCache, CiIdToken, CiImage, CiRetry, CiVariable } from './config-types.js'
import {
  checkKeys,
  given,
  kindOf,
  nameProblem,
  readFlag,
  readList,
  readSection,
  readTexts,
  reportAt,
  type Section
} from './config-values.js'
import { readArtifacts } from './keys/artifacts.js'
import { readCaches } from './keys/cache.js'
import { readImage, readServices } from './keys/containers.js'
import { readIdTokens } from './keys/id-tokens.js'
import { readRetry } from './keys/retry.js'
import { readTimeout } from './keys/timing.js'

/** The values that jobs share. A job's own value replaces that of the file as a whole. */
export interface Shared {
  readonly beforeScript: readonly string[]
  readonly afterScript: readonly string[]
  readonly image: CiImage | null
  readonly services: readonly CiImage[]
  readonly caches: readonly CiCache[]
  readonly tags: readonly string[]
  readonly artifacts: CiArtifacts | null
  readonly retry: CiRetry | null
  readonly timeout: number | null
  readonly interruptible: boolean
  readonly idTokens: readonly CiIdToken[]
}

export const SHARED_KEYS = {
  beforeScript: 'before_script',
  afterScript: 'after_script',
  image: 'image',
  services: 'services',
  caches: 'cache',
  tags: 'tags',
  artifacts: 'artifacts',
  retry: 'retry',
  timeout: 'timeout',
  interruptible: 'interruptible',
  idTokens: 'id_tokens'
} as const satisfies { readonly [Field in keyof Shared]: string }
const FIELDS = Object.keys(SHARED_KEYS) as (keyof Shared)[]
const NAMES: readonly string[] = Object.values(SHARED_KEYS)

/** Keys of the root that jobs inherit. */
const OF_ROOT: readonly string[] = ['image', 'services', 'before_script', 'after_script', 'cache']

/** Reads the keys of one place. A key that is absent gets a value that does nothing. */
function readShared(section: Section, only: readonly string[] = NAMES): Shared {
  const entries = new Map([...section.entries].filter(([key]) => typeof key === 'string' && only.includes(key)))
  const read = { ...section, entries }
  return {
    beforeScript: readList(read, 'before_script', { single: true }) ?? [],
    afterScript: readList(read, 'after_script', { single: true }) ?? [],
    image: readImage(read),
    services: readServices(read),
    caches: readCaches(read),
    tags: [...new Set(readList(read, 'tags', { check: nameProblem }))],
    artifacts: readArtifacts(read),
    retry: readRetry(read),
    timeout: readTimeout(read),
    interruptible: readFlag(read, 'interruptible'),
    idTokens: readIdTokens(read)
  }
}

export interface Defaults extends Shared {
  readonly variables: readonly CiVariable[]
}

/** Reads the values at the root and in `default`. A key may be in only one of the two. */
export function readDefaults(root: Section): Shared {
  const ofRoot = readShared(root, OF_ROOT)
  const value = given(root, 'default')
  if (value === undefined || isJob(value)) return ofRoot
  const section = readSection(root, 'default')
  if (!section) return ofRoot
  checkKeys(section, NAMES, ['hooks', 'identity'])
  for (const key of OF_ROOT) {
    if (given(root, key) !== undefined && given(section, key) !== undefined) {
      reportAt(section, key, `is also at the root of the file: keep one of them`)
    }
  }
  return choose(readShared(section), ofRoot, key => given(section, key) !== undefined)
}

/** Not specified: a job may have the name of a later key. A mapping with a script or a trigger is a job. */
export const isJob = (value: unknown): boolean => value instanceof Map && (value.has('script') || value.has('trigger'))

/** The values of a job: its own for the keys that it has, and the inherited ones. */
export function withDefaults(section: Section, defaults: Defaults): Shared {
  const inherits = readInherit(section, 'default', NAMES)
  const own = readShared(section)
  return choose(own, defaults, key => given(section, key) !== undefined || !inherits(key))
}

function choose(first: Shared, second: Shared, takesFirst: (key: string) => boolean): Shared {
  const chosen = FIELDS.map(field => [field, (takesFirst(SHARED_KEYS[field]) ? first : second)[field]])
  return Object.fromEntries(chosen) as Shared
}

/** The global variables that a job inherits. */
export function inheritedVariables(section: Section, variables: readonly CiVariable[]): CiVariable[] {
  const inherits = readInherit(
    section,
    'variables',
    variables.map(({ key }) => key)
  )
  return variables.filter(({ key }) => inherits(key))
}

/** Returns whether a job inherits a name, according to its key `inherit`. */
function readInherit(section: Section, key: 'default' | 'variables', names: readonly string[]) {
  const value = given(section, 'inherit') === undefined ? undefined : readSection(section, 'inherit')
  const wish = value && given(value, key)
  if (!value || wish === undefined) return () => true
  if (typeof wish === 'boolean') return () => wish
  if (!Array.isArray(wish)) {
    reportAt(value, key, `should be true, false or a list of names, not ${kindOf(wish)}`)
    return () => true
  }
  const listed = key === 'default' ? readTexts(value, key, names) : (readList(value, key) ?? [])
  return (name: string) => listed.includes(name)
}
