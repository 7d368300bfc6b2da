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

/** The maximum number of bytes of all answers that stay in memory: small answers, and the ends of large ones. */
const MOST_MEMORY = 32 * 1024 * 1024
/** Each answer that is not small keeps a file open. */
const MOST_ANSWERS = 1024
/** All answers together weigh at most this much. */
const MOST_WEIGHT = 1_000_000_000
/** An answer that nobody requests during this time is dropped. */
const KEPT_MS = 600_000

/** The answers that are not complete. */
const underway = new Map<string, Promise<Spool>>()
let kept: LRUCache<string, Spool> | undefined

function answers(): LRUCache<string, Spool> {
  kept ??= new LRUCache<string, Spool>({
    max: MOST_ANSWERS,
    maxSize: MOST_WEIGHT,
    ttl: KEPT_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: answer => answer.release()
  })
  return kept
}

/** The part of the disk or of the memory that an answer takes, whichever is larger. The oldest answers leave until all fit. */
function weightOf(answer: Spool): number {
  const ofDisk = answer.size / Math.max(1, config().git.answer_cache)
  const part = Math.min(1, Math.max(ofDisk, answer.inMemory() / MOST_MEMORY))
  return Math.max(1, Math.ceil(part * MOST_WEIGHT))
}

/** An answer, and a stream that reads it from its beginning. */
export interface Shared {
  readonly answer: Spool
  readonly stream: Readable
}

/** Returns the answer to a clone: one that other clients read or have read, or a new one. */
export async function shareAnswer(request: CloneRequest, start: () => Promise<Spool>): Promise<Shared> {
  const key = keyOf(request)
  // Nothing is awaited between the last lookup and the start: otherwise clients that arrive together would each start git.
  for (let starting = underway.get(key); starting; starting = underway.get(key)) {
    const answer = await starting
    if (answer.isWhole()) return { answer, stream: answer.read() }
    if (underway.get(key) === starting) underway.delete(key)
  }
  const already = answers().get(key)
  if (already?.isWhole()) return { answer: already, stream: already.read() }
  const promise = start()
  underway.set(key, promise)
  const end = () => underway.get(key) === promise && underway.delete(key)
  promise.catch(end)
  const answer = await promise
  const stream = answer.read()
  answer.onEnd(() => {
    end()
    if (answer.isWhole()) answers().set(key, answer, { size: weightOf(answer) })
  })
  return { answer, stream }
}

/** Returns the maximum size in bytes of one answer that is kept. */
export const mostShared = (): number => config().git.answer_cache / 4

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
