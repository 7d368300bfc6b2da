// Stores the traces of builds, which grow while others read them. They grow in a file, or in rows of the database if the machines share
// no folder (storage.growing_traces). With a bucket, a task moves the traces of ended builds into it
// (areas/ci/builds/files/bucket-uploads.ts).
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { config } from '../config.js'
import type { TooLarge } from '../errors.js'
import type { ChooseRange } from '../lib/byte-range.js'
import { plug } from '../lib/plug.js'
import { pathOfBlob, putBlob } from './blobs.js'
import { type BuildKey, type CopiedStream, isMissing, type OpenFile, objectOf, openPart } from './files.js'
import { appendToFile, removeGrowing, replaceFile, turns } from './growing-files.js'
import { hasBucket } from './places.js'
import { putFile } from './put-file.js'
import { headObject, openObject, removeObject } from './s3.js'

export type { BuildKey } from './files.js'

/** The chunk does not begin at the end of the trace; `size` is the end of the trace in bytes. */
export class TraceMismatch extends Error {
  constructor(readonly size: number) {
    super(`the trace has ${size} bytes`)
  }
}

/** Traces in the database. A trace without rows has 0 bytes. */
export interface TraceRows {
  /** Returns the new size. Throws the error of `requireEnd` when the trace has another end, also if another process was faster. */
  append(key: BuildKey, chunk: Uint8Array, requireEnd: (size: number) => void): Promise<number>
  replace(key: BuildKey, bytes: Uint8Array): Promise<void>
  size(key: BuildKey): Promise<number>
  /** Returns at most `length` bytes from `start`. */
  read(key: BuildKey, start: number, length: number): Promise<Buffer>
  remove(key: BuildKey): Promise<void>
}

export const traceRows = plug<TraceRows>('traceRows')
const inRows = () => config().storage.growing_traces === 'database'

const LONGEST_READ = 4_194_304

const nameOf = (key: BuildKey) => objectOf('traces', key)
const pathOf = (key: BuildKey) => pathOfBlob(nameOf(key))

/** Writers of one process take turns for each trace. */
const inTurn = <T>(key: BuildKey, work: (path: string) => Promise<T>): Promise<T> => {
  const path = pathOf(key)
  return turns.run({ client: path }, () => work(path))
}

/**
 * Appends to a trace and returns its new size in bytes; the bytes are on the disk when the promise resolves. `offset`
 * is where the sender expects the end of the trace; throws TraceMismatch when the trace ends elsewhere. One process
 * writes in the order of the calls. Two processes that send the same chunk to the same offset, as a retried request
 * does, write the same bytes to the same place.
 */
export function appendTrace(key: BuildKey, chunk: Uint8Array, offset?: number): Promise<number> {
  const requireEnd = (size: number) => {
    if (offset !== undefined && offset !== size) throw new TraceMismatch(size)
  }
  return inTurn(key, async path =>
    inRows() ? (await traceRows()).append(key, chunk, requireEnd) : appendToFile(path, chunk, requireEnd)
  )
}

/** Empties the trace, for a build that starts again under the same key. */
export const resetTrace = (key: BuildKey): Promise<void> => replaceTrace(key, Buffer.alloc(0))

/** Stores a whole trace from a file, and replaces an existing one. Only for a build that has ended. */
export const putTrace = (key: BuildKey, from: string): Promise<CopiedStream> =>
  putFile(pathOf(key), from, { folder: 'traces', limit: Number.POSITIVE_INFINITY })

/** Stores the whole trace of a build that has ended, in the place of traces. Throws `excess` above `limit` bytes. */
export const putEndedTrace = (
  key: BuildKey,
  source: Readable,
  limits: { readonly limit: number; readonly excess: TooLarge }
): Promise<CopiedStream> => putBlob({ kind: 'traces', name: nameOf(key), source, ...limits })

/** Replaces the whole trace. A reader at this moment may get the beginning of one trace and the rest of the other. */
export const replaceTrace = (key: BuildKey, bytes: Uint8Array): Promise<void> =>
  inTurn(key, async path => {
    if (!inRows()) return replaceFile(path, bytes)
    await (await traceRows()).replace(key, bytes)
    // A file would hide the rows.
    await removeGrowing(path)
  })

/** Returns the size of the trace in bytes, or 0 when there is none. */
export async function traceSize(key: BuildKey): Promise<number> {
  try {
    return (await stat(pathOf(key))).size
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  const growing = inRows() ? await (await traceRows()).size(key) : 0
  if (growing > 0 || !hasBucket()) return growing
  return (await headObject(nameOf(key)))?.size ?? 0
}

/**
 * Returns at most `length` bytes (never more than 4 MiB) from `start`. It returns fewer bytes at the end of the trace,
 * and none after the end or without a trace.
 */
export async function readTrace(key: BuildKey, start = 0, length = LONGEST_READ): Promise<Buffer> {
  const most = Math.min(length, LONGEST_READ)
  if (most <= 0) return Buffer.alloc(0)
  let beyond = false
  const found = await openTrace(key, size => {
    beyond = start >= size
    return beyond ? undefined : { start, end: Math.min(start + most, size) - 1 }
  })
  if (found && !beyond) return buffer(found.stream)
  found?.stream.destroy()
  return Buffer.alloc(0)
}

/** Returns the trace as it is now, or a part of it, or undefined when there is none. The stream ends there, even if the trace grows. */
export async function openTrace(key: BuildKey, choose?: ChooseRange): Promise<OpenFile | undefined> {
  return (
    (await openPart(pathOf(key), choose)) ??
    (inRows() ? await openRows(key, choose) : undefined) ??
    (hasBucket() ? openObject(nameOf(key), choose) : undefined)
  )
}

async function openRows(key: BuildKey, choose?: ChooseRange): Promise<OpenFile | undefined> {
  const rows = await traceRows()
  const size = await rows.size(key)
  if (size === 0) return undefined
  const range = choose?.(size)
  const { start, end } = range ?? { start: 0, end: size - 1 }
  async function* pieces() {
    for (let at = start; at <= end; ) {
      const piece = await rows.read(key, at, Math.min(end - at + 1, LONGEST_READ))
      // The task has moved the trace into the bucket, or somebody has erased it.
      if (piece.length === 0) throw new Error('the trace is no longer in the database')
      at += piece.length
      yield piece
    }
  }
  return { size, ...(range && { range }), stream: Readable.from(pieces()) }
}

/** Removes the trace, if there is one. */
export const removeTrace = (key: BuildKey): Promise<void> =>
  inTurn(key, async path => {
    if (hasBucket()) await removeObject(nameOf(key))
    if (inRows()) await (await traceRows()).remove(key)
    await removeGrowing(path)
  })
