// Compares stored files of builds with their rows.
import { createHash } from 'node:crypto'
import { openArtifact } from './artifacts.js'
import { sizeOfBlob } from './blobs.js'
import { type BuildKey, objectOf } from './files.js'
import { openTrace, traceSize } from './traces.js'

type BuildFile = 'artifacts' | 'traces'

/** Returns the size of a file in bytes, or null when there is none. A trace without output does not count. */
export const sizeOf = async (kind: BuildFile, key: BuildKey): Promise<number | null> =>
  kind === 'traces' ? (await traceSize(key)) || null : ((await sizeOfBlob(objectOf(kind, key))) ?? null)

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
export async function hashOf(kind: BuildFile, key: BuildKey, length?: number): Promise<Buffer> {
  const open = kind === 'traces' ? openTrace : openArtifact
  const found = await open(key, () => (length === undefined ? undefined : { start: 0, end: length - 1 }))
  if (!found) throw new Error(`the file of build ${key.build} does not exist`)
  const hash = createHash('sha256')
  for await (const chunk of found.stream as AsyncIterable<Buffer>) hash.update(chunk)
  return hash.digest()
}
