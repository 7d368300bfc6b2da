// Compares stored files of builds with their rows.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type BuildKey, isMissing, objectOf, pathOf } from './files.js'
import { hasBucket, headObject, openObject } from './s3.js'
import { traceSize } from './traces.js'

const ENDINGS = { artifacts: 'zip', traces: 'log' } as const

/** Returns the size of a file in bytes, or null when there is none. */
export async function sizeOf(kind: keyof typeof ENDINGS, key: BuildKey): Promise<number | null> {
  const kept = hasBucket() ? await headObject(objectOf(kind, key)) : undefined
  if (kept) return kept.size
  try {
    return (await stat(pathOf(kind, key, ENDINGS[kind]))).size
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

export interface Measured {
  readonly size: number
  /** Null where nothing was written. */
  readonly sha256: Buffer | null
}

/** Measures a trace as it is now. */
export async function measureTrace(key: BuildKey): Promise<Measured> {
  const size = await traceSize(key)
  return { size, sha256: size === 0 ? null : await hashOf('traces', key, size) }
}

/** Returns the hash of a file, or of its first `length` bytes. Throws when there is none. */
export async function hashOf(kind: keyof typeof ENDINGS, key: BuildKey, length?: number): Promise<Buffer> {
  const hash = createHash('sha256')
  const range = length === undefined ? {} : { end: length - 1 }
  const path = pathOf(kind, key, ENDINGS[kind])
  const part = length === undefined ? undefined : { start: 0, end: length - 1 }
  const kept = hasBucket() ? await openObject(objectOf(kind, key), () => part) : undefined
  for await (const chunk of (kept?.stream ?? createReadStream(path, range)) as AsyncIterable<Buffer>) hash.update(chunk)
  return hash.digest()
}
