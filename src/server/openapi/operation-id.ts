// Derives the name of an operation in a generated client: a verb, then the words of the path. `GET /projects/:id/builds` is
// `listProjectBuilds`, `POST /projects/:id/builds/:build_id/retry` is `retryProjectBuild`.

/** Last words of a path that are the verb of the name. */
const ACTIONS = new Set(
  `approve archive block cancel cherry_pick disable enable erase fork keep merge move pause play protect redeliver resume
  retry share star unarchive unblock unprotect`.split(/\s+/)
)

/** Actions that a DELETE undoes. */
const UNDONE = new Set(['fork', 'share', 'star'])

const VERBS: { readonly [method: string]: string } = { GET: 'get', POST: 'create', PUT: 'update', DELETE: 'delete' }

/** Paths that are read as other paths. */
const READINGS: readonly (readonly [written: RegExp, read: string])[] = [
  [/^\/user(?=\/|$)/, '/current_user'],
  [/^\/bgjobs(?=\/)/, '/background'],
  [/\/repository(?=\/)/, ''],
  [/^\/(\w+)\/(all|owned|public|starred|visible)$/, '/$2_$1'],
  [/^\/templates\/(\w+)s(?=\/|$)/, '/$1_templates']
]

/** Plurals that stand for one thing. */
const WHOLE = /(settings|metrics|stats|artifacts)$/

export interface Path {
  readonly method: string
  /** The path below the prefix of the API, such as `/projects/:id`. */
  readonly path: string
  /** Whether it returns an array. */
  readonly list: boolean
}

export function operationIdOf({ method, path, list }: Path): string {
  const read = READINGS.reduce((text, [written, reading]) => text.replace(written, reading), path)
  const words = read.split('/').filter(word => word !== '' && !word.startsWith(':'))
  const last = words.at(-1) ?? ''
  const before = words.slice(0, -1).map(singular)
  if (method !== 'GET' && ACTIONS.has(last)) {
    return camelCase([method === 'DELETE' && UNDONE.has(last) ? `un${last}` : last, ...before])
  }
  if (list) return camelCase(['list', ...before, last])
  return camelCase([VERBS[method] ?? method.toLowerCase(), ...words.map(singular)])
}

const camelCase = (words: string[]) =>
  words.join('_').replace(/[_-]+([a-z0-9])/g, (_, first: string) => first.toUpperCase())

function singular(word: string): string {
  if (WHOLE.test(word)) return word
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  if (/(ch|sh|x|ss|us)es$/.test(word)) return word.slice(0, -2)
  return /[^su]s$/.test(word) ? word.slice(0, -1) : word
}
