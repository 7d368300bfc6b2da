// Reads objects. Most come from the files of the repository (`odb/`). For the others there is a pool of long-lived `git
// cat-file --batch-command` processes: at most two for a busy repository, and a limit in total. When there is no room
// for another reader, the reader that has been idle longest ends.

import { config } from '../../config.js'
import { TooLarge, Unavailable } from '../../errors.js'
import { Limiter } from '../../lib/limiter.js'
import { atEnd } from '../../lib/shutdown.js'
import { mostAtOnce } from '../process/limits.js'
import { failure, GitFailure, GitLimit, startGit } from '../process/run.js'
import type { Answer } from './batch-answers.js'
import { holdBytes } from './budget.js'
import { forgetStored, isForGit, readStored } from './odb/stored.js'
import { type Asked, LARGE_OBJECT, openReader, type Reader } from './reader-process.js'

export { LARGE_OBJECT } from './reader-process.js'

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'
export interface ObjectInfo {
  readonly id: string
  readonly type: ObjectType
  readonly size: number
}

const READERS_PER_REPOSITORY = 2
const PENDING_LIMIT = 20_000

const readers = new Set<Reader>()
const opening = new Map<string, Promise<Reader>>()
/** A slot for each reader. When a request has to wait for one, the reader that has been idle longest ends. */
const places = new Limiter({
  capacity: mostReaders,
  queue: {
    capacity: () => config().git.max_waiting,
    full: () => new Unavailable('Too many repositories are being read')
  },
  onWait: () => void [...readers].find(reader => reader.isOpen() && !fresh.has(reader))?.close()
})

const OBJECT_ID = /^[0-9a-f]{40}$/
const ASKABLE = /^(?:[0-9a-f]{4,40}|refs\/[^\x00-\x20\x7f~^:?*[\\]{1,250})(?:\^\{commit\})?$/

/** Returns true for a full object id. */
export const isObjectId = (id: string): boolean => OBJECT_ID.test(id)

/**
 * Returns the object that a name stands for, or null. A name is a full object id, at least 4 of its digits, or a full
 * ref name; each may end in `^{commit}`. Throws GitFailure when git cannot read the repository.
 */
export async function objectInfo(repository: string, name: string): Promise<ObjectInfo | null> {
  const named = /^([0-9a-f]{40})(\^\{commit\})?$/.exec(name)
  const stored = named?.[1] && (await readStored(repository, named[1], LARGE_OBJECT))
  if (named?.[1] && stored && (!named[2] || stored.type === 'commit')) {
    return { id: named[1], type: stored.type, size: stored.size }
  }
  const answer = await ask(repository, 'info', name)
  return answer && { id: answer.id, type: answer.type as ObjectType, size: answer.size }
}

const IN_TREE = /^[0-9a-f]{40}:[\x20-\x7e]{1,1000}$/

/**
 * Returns the id of the object at a path below a tree of a large repository, with one question for all folders of the
 * path. Returns null when the object does not exist, and also when the caller must read each folder: in a small
 * repository, for a submodule, for a path that is long or not ASCII, and for a missing tree.
 */
export async function idInTree(repository: string, treeId: string, path: string): Promise<string | null> {
  const name = `${treeId}:${path}`
  if (!isForGit(repository) || !IN_TREE.test(name)) return null
  return (await askChecked(repository, 'info', name))?.id ?? null
}

/**
 * Returns an object with its content, or null. The content of a large object (LARGE_OBJECT) is null. This takes one
 * question; asking for the size first would take two.
 */
export async function readSmall(
  repository: string,
  id: string
): Promise<(ObjectInfo & { content: Buffer | null }) | null> {
  if (!isObjectId(id)) return null
  const stored = await readStored(repository, id, LARGE_OBJECT)
  if (stored) return { id, ...stored }
  const answer = await ask(repository, 'contents', id).catch(async error => {
    // A large object may need more memory than a reader has.
    const about = error instanceof GitLimit && (await objectInfo(repository, id))
    if (about && about.size > LARGE_OBJECT) return { ...about, content: null }
    throw error
  })
  return answer && { id: answer.id, type: answer.type as ObjectType, size: answer.size, content: answer.content }
}

/**
 * Returns an object with its content, or null. A large object comes from its own process. Throws TooLarge when the
 * object is larger than `maxSize` bytes.
 */
export async function readObject(
  repository: string,
  id: string,
  maxSize = config().git.max_file_size
): Promise<(ObjectInfo & { content: Buffer }) | null> {
  const found = await readSmall(repository, id)
  if (!found) return null
  if (found.size > maxSize) {
    throw new TooLarge(`413 The ${found.type} ${id} is larger than ${maxSize} bytes (git.max_file_size)`)
  }
  return { ...found, content: found.content ?? (await readLarge(repository, found, found.size)) }
}

/**
 * Returns an object with the first megabyte (LARGE_OBJECT) of its content, or null. `size` is the size of the whole
 * object: commits and tags have no maximum size.
 */
export async function readObjectStart(
  repository: string,
  id: string
): Promise<(ObjectInfo & { content: Buffer }) | null> {
  const found = await readSmall(repository, id)
  return found && { ...found, content: found.content ?? (await readLarge(repository, found, LARGE_OBJECT)) }
}

/** Reads the first `length` bytes of an object in a separate process. */
async function readLarge(repository: string, { id, type, size }: ObjectInfo, length: number): Promise<Buffer> {
  const release = await holdBytes(length)
  try {
    const args = ['cat-file', type, id]
    const git = await startGit(args, { repository })
    git.stdin.end()
    const content = Buffer.allocUnsafeSlow(length)
    let filled = 0
    for await (const chunk of git.stdout as AsyncIterable<Buffer>) {
      filled += chunk.copy(content, filled)
      if (filled === length && length < size) break
    }
    if (length < size) git.kill()
    const exit = await git.done
    if (filled < length || (length === size && exit.code !== 0)) throw failure(args, exit, git.stderr())
    return content
  } finally {
    release()
  }
}

async function ask(repository: string, command: Asked['command'], name: string): Promise<Answer | null> {
  // Git would treat the text after a newline as another command.
  if (!ASKABLE.test(name)) throw new TypeError(`not a name to look up: ${JSON.stringify(name)}`)
  return askChecked(repository, command, name)
}

async function askChecked(repository: string, command: Asked['command'], name: string): Promise<Answer | null> {
  for (let losses = 0; ; ) {
    const reader = await readerOf(repository)
    const outcome = await reader.ask(command, name)
    if ('answer' in outcome) return outcome.answer
    if ('failed' in outcome) throw outcome.failed
    // The process died. The question that it was working on may be the cause, so only that question counts its losses.
    // Two losses are allowed, since something outside may kill both readers of a repository at the same time.
    if (outcome.lost === 'first' && ++losses > 2) throw new GitFailure(`${command} ${name}: the reader died each time`)
  }
}

/** Returns the reader with the fewest pending questions. When all readers are busy, it also starts a second one. */
async function readerOf(repository: string): Promise<Reader> {
  const own = [...readers].filter(reader => reader.repository === repository && reader.isOpen())
  const least = own.sort((a, b) => a.pending() - b.pending())[0]
  if (!least) return await openOnce(repository)
  const another = least.pending() > 0 && own.length < READERS_PER_REPOSITORY && places.held < mostReaders()
  if (another) void openOnce(repository).catch(() => {})
  if (least.pending() >= PENDING_LIMIT) throw new Unavailable('Too many reads are waiting')
  readers.delete(least) // moves the reader to the end, because the set is in order of use
  readers.add(least)
  return least
}

function openOnce(repository: string): Promise<Reader> {
  const already = opening.get(repository)
  if (already) return already
  const promise = open(repository).finally(() => opening.delete(repository))
  opening.set(repository, promise)
  return promise
}

function mostReaders(): number {
  return mostAtOnce('readers', config().git.max_readers)
}

async function open(repository: string): Promise<Reader> {
  const release = await places.acquire({})
  try {
    const reader = await openReader(repository, {
      idle: () => makeRoom(reader),
      gone: () => {
        readers.delete(reader)
        fresh.delete(reader)
        release()
      }
    })
    readers.add(reader)
    fresh.add(reader)
    setImmediate(() => {
      fresh.delete(reader)
      makeRoom(reader)
    })
    return reader
  } catch (error) {
    release()
    throw error
  }
}

// Readers that were just opened for a caller that has not sent its question yet. If such a reader closed now, the
// caller would open it again.
const fresh = new Set<Reader>()

function makeRoom(reader: Reader): void {
  if (places.queued > 0 && reader.pending() === 0 && !fresh.has(reader)) void reader.close()
}

/**
 * Ends the readers of one repository, or of all repositories, after they have answered all pending questions. Waits
 * until they are gone.
 */
export async function closeReaders(repository?: string): Promise<void> {
  forgetStored(repository)
  await Promise.allSettled(repository === undefined ? opening.values() : [opening.get(repository)])
  const chosen = [...readers].filter(reader => repository === undefined || reader.repository === repository)
  await Promise.all(chosen.map(reader => reader.close()))
}

atEnd(closeReaders)

/** Returns the number of reader processes, for the metrics. */
export const readerCount = (): number => readers.size
