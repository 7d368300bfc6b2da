// Compares stored files of builds with what their rows say.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type BuildKey, isMissing, pathOf } from './files.js'

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

/** Returns the hash of an archive. Throws when there is none. */
export async function hashOfArtifact(key: BuildKey): Promise<Buffer> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(pathOf('artifacts', key, 'zip')) as AsyncIterable<Buffer>)
    hash.update(chunk)
  return hash.digest()
}
