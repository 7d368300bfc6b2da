// What the batch API of git LFS says about objects of another server, as github.com/git-lfs/git-lfs describes it.
import type { InputSchema } from '../../../../lib/coerce.js'
import { Nullable } from '../../../../lib/schema.js'
import { type Static, type TSchema, Type } from '../../../../lib/type.js'
import { validator } from '../../../../lib/validate.js'
import type { LfsKey } from '../../../../storage/lfs.js'

export type LfsOperation = 'download' | 'upload'

/** A request to make for an object. */
export interface Action {
  readonly href: URL
  readonly header: { readonly [name: string]: string }
}

export interface PlannedObject {
  readonly key: LfsKey
  /** Null: the server has nothing to give, or wants nothing. */
  readonly action: Action | null
  readonly verify: Action | null
  /** Why the server refuses; null when it does not. */
  readonly refusal: string | null
}

/** What the server sends in other forms counts as missing. */
const maybe = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema))
const StoredAction = Type.Object({
  href: Type.String({ maxLength: 16_384 }),
  header: maybe(Type.Record(Type.String({ maxLength: 200 }), Type.String({ maxLength: 16_384 })))
})
const Answer = Type.Object({
  transfer: maybe(Type.String({ maxLength: 100 })),
  objects: Type.Array(
    Type.Object({
      oid: Type.String({ maxLength: 200 }),
      actions: maybe(
        Type.Object({ download: maybe(StoredAction), upload: maybe(StoredAction), verify: maybe(StoredAction) })
      ),
      error: maybe(Type.Object({ code: maybe(Type.Integer()), message: maybe(Type.String()) }))
    }),
    { maxItems: 1000 }
  )
})
const checkAction = validator(StoredAction as InputSchema, { exact: true })
const check = validator(Answer as InputSchema, { exact: true })

/** The connection decides about these. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'expect', 'range'],
  ...['accept-encoding', 'keep-alive', 'proxy-authorization', 'proxy-connection']
])
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/
const MOST_HEADERS = 50

/** Objects of one question. Together they have few bytes, so that its credentials last until the last transfer. */
const MOST_ASKED = 100
const MOST_BYTES = 1024 ** 3

/** Yields parts of a list that fit into one question. */
export function* questions(keys: readonly LfsKey[]): Generator<readonly LfsKey[]> {
  let some: LfsKey[] = []
  let bytes = 0
  for (const key of keys) {
    if (some.length === MOST_ASKED || (some.length > 0 && bytes + key.size > MOST_BYTES)) {
      yield some
      some = []
      bytes = 0
    }
    some.push(key)
    bytes += key.size
  }
  if (some.length > 0) yield some
}

export const questionOf = (operation: LfsOperation, keys: readonly LfsKey[]): Buffer =>
  Buffer.from(JSON.stringify({ operation, transfers: ['basic'], hash_algo: 'sha256', objects: keys }))

/** Returns what the server plans for each object asked for; null for an answer in another form. */
export function readPlan(operation: LfsOperation, keys: readonly LfsKey[], value: unknown): PlannedObject[] | null {
  const found = check(value)
  if (found.wrong !== undefined) return null
  const { transfer, objects } = found.value as Static<typeof Answer>
  if (transfer && transfer !== 'basic') return null
  const answers = new Map(objects.map(object => [object.oid, object]))
  return keys.map(key => {
    const { actions, error } = answers.get(key.oid) ?? {}
    const refusal = error ? `error ${error.code ?? 'without a code'}` : null
    if (!answers.has(key.oid)) return { key, action: null, verify: null, refusal: 'no answer' }
    return { key, action: actionOf(actions?.[operation]), verify: actionOf(actions?.verify), refusal }
  })
}

/** Returns a request as a server describes it; null for other values. */
export function actionOf(value: unknown): Action | null {
  if (value === null || value === undefined || checkAction(value).wrong !== undefined) return null
  const stored = value as Static<typeof StoredAction>
  if (!URL.canParse(stored.href)) return null
  const href = new URL(stored.href)
  if (href.protocol !== 'http:' && href.protocol !== 'https:') return null
  const headers = Object.entries(stored.header ?? {})
    .filter(([name, value]) => HEADER_NAME.test(name) && /^[\t\x20-\x7e]*$/.test(value))
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !OWN_HEADERS.has(name))
  return { href, header: Object.fromEntries(headers.slice(0, MOST_HEADERS)) }
}
