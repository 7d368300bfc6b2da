// Clients that clone the same state of a repository with the same request share one answer, also for some time
// afterwards: twenty builds that start together cost one git process.
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { LRUCache } from 'lru-cache'
import { config } from '../../config.js'
import type { ListedRef } from '../refs/list.js'
import type { Spool } from './spool.js'

export interface CloneRequest {
  readonly repository: string
  readonly version: string | undefined
  /** All refs: they determine which tags are sent with the commits. */
  readonly refs: readonly ListedRef[]
  readonly request: Buffer
  /** Which packs the answer comes from: git copies their bytes, so a repaired pack gives another answer. */
  readonly packs: string
}

/** Small answers are kept in memory, so their number is limited as well. */
const MOST_ANSWERS = 64
/** An answer that nobody requests during this time is dropped. */
const KEPT_MS = 600_000

const underway = new Map<string, Promise<Spool>>()
let kept: LRUCache<string, Spool> | undefined

function answers(): LRUCache<string, Spool> {
  kept ??= new LRUCache<string, Spool>({
    max: MOST_ANSWERS,
    ttl: KEPT_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: answer => answer.release()
  })
  return kept
}

/** An answer, and a stream that reads it from its beginning. */
export interface Shared {
  readonly answer: Spool
  readonly stream: Readable
}

/** Returns the answer to a clone: one that other clients read or have read, or a new one. */
export async function shareAnswer(request: CloneRequest, start: () => Promise<Spool>): Promise<Shared> {
  const key = keyOf(request)
  // Nothing is awaited between the lookup and the start: otherwise two clients that arrive together would both start git.
  const starting = underway.get(key)
  const already = starting ? await starting : answers().get(key)
  if (already?.isWhole()) return { answer: already, stream: already.read() }
  const promise = start().finally(() => underway.delete(key))
  underway.set(key, promise)
  const answer = await promise
  const stream = answer.read()
  answers().set(key, answer)
  answer.onComplete(makeRoom)
  return { answer, stream }
}

/** Returns the maximum size in bytes of one answer that is kept. */
export const mostShared = (): number => config().git.answer_cache / 4

/** Drops the oldest answers until the others fit. */
function makeRoom(): void {
  const all = answers()
  let size = [...all.values()].reduce((sum, answer) => sum + answer.size, 0)
  for (const key of [...all.rkeys()]) {
    const answer = all.peek(key)
    if (!answer || (size <= config().git.answer_cache && answer.isWhole())) continue
    size -= answer.size
    all.delete(key)
  }
}

function keyOf({ repository, version = '', refs, request, packs }: CloneRequest): string {
  const hash = createHash('sha256')
    .update(`${repository}\0${version}\0${packs}\0`)
    .update(digestOf(refs))
    .update(request)
  return hash.digest('hex')
}

const digests = new WeakMap<readonly ListedRef[], Buffer>()

/** Lists that have not changed are the same object. */
function digestOf(refs: readonly ListedRef[]): Buffer {
  const known = digests.get(refs)
  if (known) return known
  const hash = createHash('sha256')
  for (const { name, id } of refs) hash.update(`${id} ${name}\n`)
  const digest = hash.digest()
  digests.set(refs, digest)
  return digest
}

/** Drops all answers. An answer that is still being read is deleted after its last reader. */
export function forgetAnswers(): void {
  kept?.clear()
}
