// Stores the files of builds of an imported project.
import type { Readable } from 'node:stream'
import { execute } from '../../../../db/connect/sql.js'
import type { TooLarge } from '../../../../errors.js'
import { putArtifact, removeArtifact } from '../../../../storage/artifacts.js'
import { putEndedTrace } from '../../../../storage/traces.js'

/** Imported builds have run once. */
export const IMPORTED_ATTEMPT = 1

interface Limits {
  readonly limit: number
  readonly excess: TooLarge
}

export async function storeImportedTrace(build: number, source: Readable, limits: Limits): Promise<void> {
  const { size, sha256 } = await putEndedTrace({ build, attempt: IMPORTED_ATTEMPT }, source, limits)
  await execute('update builds set trace_size = ?, trace_sha256 = ? where id = ?', [
    size,
    Buffer.from(sha256, 'hex'),
    build
  ])
}

/** An empty file stands for artifacts that were lost before the export. */
export async function storeImportedArtifacts(
  build: number,
  source: Readable,
  { limit, excess }: Limits
): Promise<void> {
  const key = { build, attempt: IMPORTED_ATTEMPT }
  const { size, sha256 } = await putArtifact(key, source, limit, excess)
  if (size === 0) {
    await removeArtifact(key)
    await execute('update builds set artifacts_filename = null, artifacts_expire_at = null where id = ?', [build])
    return
  }
  await execute('update builds set artifacts_size = ?, artifacts_sha256 = ?, artifacts_attempt = ? where id = ?', [
    size,
    Buffer.from(sha256, 'hex'),
    IMPORTED_ATTEMPT,
    build
  ])
}
