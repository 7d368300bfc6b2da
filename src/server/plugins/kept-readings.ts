// Keeps what pages have read of the records of their project, and the HTML that was made from it. A page finds its project together
// with the version (db/connect/content.ts). While this statement returns the same values for the same user, nothing has changed that
// the reading shows, in this process or another one: see kept-answers.ts.
//
// A reading is kept only if the version proves all its statements. Everything else that a page shows is read for each request.
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { forgetWithPool } from '../../db/connect/connection.js'
import { readsContentOnly } from '../../db/ownership/proven.js'
import { type Reading, requestScope } from '../../lib/request-scope.js'

/** HTML that is valid while the texts in it are the same, up to the moment at which a distance from now gets other words. */
export interface Timed {
  readonly html: string
  /** By `Date.now()`. */
  readonly until: number
}

interface Kept {
  readonly key: string
  readonly proof: string
  readonly read: object
  readonly until: number
  readonly bytes: number
  readonly made?: Timed & { readonly texts: readonly string[] }
}

/** Bytes of all readings and their HTML, and of one. */
const MOST = 16_777_216
const MOST_OF_ONE = 524_288
const LONGEST_URL = 500
/** Bytes for an object, or for what holds an entry. */
const OBJECT = 100
/** Milliseconds. It limits the effect of rows that were changed without the product, such as by hand. */
const KEEP_MS = 10_000

const kept = new LRUCache<string, Kept>({
  maxSize: MOST,
  sizeCalculation: ({ bytes, proof, made }, key) => bytes + 2 * (key.length + proof.length + sizeOfHtml(made)) + OBJECT
})
const sizeOfHtml = (made: Kept['made']): number =>
  made === undefined ? 0 : made.html.length + made.texts.reduce((sum, text) => sum + text.length, 0)
const entries = new WeakMap<object, Kept>()
forgetWithPool(() => kept.clear())

type Asked = Pick<FastifyRequest, 'actor' | 'method' | 'project' | 'url'>

/**
 * Returns what `make` reads for a page, or what it has read before, if the version proves that this is still the same. It must depend
 * only on the address, the user, and the project of the path. A page calls this once. Nobody may change the result. What a form shows
 * after its own write is always read: the version was read before that.
 */
export async function keptReading<Read extends object>(request: Asked, make: () => Promise<Read>): Promise<Read> {
  const { actor, method, project, url } = request
  const scope = requestScope.getStore()
  const hasVersion = 'all_version' in project
  if (!scope || !hasVersion || method !== 'GET' || url.length > LONGEST_URL) return make()
  const key = `${actor.user?.id} ${url}`
  const proof = JSON.stringify([actor.user, project])
  const last = kept.get(key)
  if (last && last.proof === proof && Date.now() < last.until) return last.read as Read
  const reading: Reading = { statements: new Set<string>(), until: Date.now() + KEEP_MS }
  const read = await requestScope.run({ ...scope, reading }, make)
  const bytes = bytesOf(read)
  if (bytes <= MOST_OF_ONE && [...reading.statements].every(readsContentOnly)) {
    keep({ key, proof, read, until: reading.until, bytes })
  }
  return read
}

/** Returns the HTML that `make` makes from a reading and these texts, or the last one that is still valid. */
export function keptHtml(read: object, texts: readonly string[], make: () => Timed): string {
  const entry = entries.get(read)
  const last = entry?.made
  if (last && Date.now() < last.until && isSame(last.texts, texts)) return last.html
  const made = make()
  if (entry && sizeOfHtml({ ...made, texts }) <= MOST_OF_ONE) keep({ ...entry, made: { ...made, texts } })
  return made.html
}

function keep(entry: Kept): void {
  entries.set(entry.read, entry)
  kept.set(entry.key, entry)
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((text, at) => text === other[at])

/** About how many bytes a reading takes: rows are plain values. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return 2 * value.length
  if (typeof value !== 'object' || value === null) return 8
  return Object.values(value).reduce<number>((sum, each) => sum + bytesOf(each), OBJECT)
}
