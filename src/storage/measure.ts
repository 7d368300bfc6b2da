// Compares stored files of builds with what their rows say.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type BuildKey, isMissing, pathOf } from './files.js'
import { traceSize } from './traces.js'

const ENDINGS = { artifacts: 'zip', traces: 'log' } as const

/** Returns the size of a file in bytes, or null when there is none. */
export async function sizeOf(kind: keyof typeof ENDINGS, key: BuildKey): Promise<number | null> {
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
  for await (const chunk of createReadStream(pathOf(kind, key, ENDINGS[kind]), range) as AsyncIterable<Buffer>)
    hash.update(chunk)
  return hash.digest()
}
