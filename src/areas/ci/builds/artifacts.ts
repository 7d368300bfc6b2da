import type { Readable } from 'node:stream'
import { execute, row } from '../../../db/connect/sql.js'
import type { ChooseRange } from '../../../lib/byte-range.js'
import { contentDisposition } from '../../../lib/disposition.js'
import { tokenHash } from '../../../secrets.js'
import { openArtifact, putArtifact, sendArtifactFromBucket } from '../../../storage/artifacts.js'
import { countArtifacts } from '../../projects/projects/project-statistics.js'
import type { BuildClaim } from './claim.js'

export interface ArtifactsRow {
  readonly id: number
  readonly artifacts_filename: string | null
  readonly artifacts_attempt: number | null
  readonly artifacts_expire_at: Date | null
}

/**
 * Stores an archive as the artifacts of a build and replaces an earlier one. `source` is the path of a file or a
 * stream. `expireIn` is in seconds; with null the artifacts never expire. Returns false when the claim no longer holds
 * the build. Throws TooLarge.
 */
export async function storeArtifacts(
  claim: BuildClaim,
  archive: { readonly path: string | Readable; readonly filename: string },
  expireIn: number | null
): Promise<boolean> {
  const { size, sha256 } = await putArtifact({ build: claim.buildId, attempt: claim.attempt }, archive.path)
  const before = await row<{ size: number | null }>('select artifacts_size as size from builds where id = ?', [
    claim.buildId
  ])
  const { affectedRows } = await execute(
    `update builds set artifacts_filename = ?, artifacts_size = ?, artifacts_sha256 = ?, artifacts_attempt = ?,
       artifacts_expire_at = ?
     where id = ? and token_hash = ?`,
    [
      archive.filename,
      size,
      Buffer.from(sha256, 'hex'),
      claim.attempt,
      expireIn === null ? null : new Date(Date.now() + expireIn * 1000),
      claim.buildId,
      tokenHash(claim.token)
    ]
  )
  if (affectedRows !== 1) return false
  await countArtifacts(claim.buildId, size - (before?.size ?? 0))
  return true
}

/** Returns whether a build has artifacts that have not expired. */
export const hasArtifacts = (build: ArtifactsRow) =>
  build.artifacts_filename !== null && (build.artifacts_expire_at === null || build.artifacts_expire_at > new Date())

export const archiveNameOf = (build: ArtifactsRow): string => build.artifacts_filename ?? 'artifacts.zip'

/** Throws FoundElsewhere, unless the server must send the archive, or there is none. */
export async function sendDirectly(build: ArtifactsRow): Promise<void> {
  if (!hasArtifacts(build) || build.artifacts_attempt === null) return
  const disposition = contentDisposition('attachment', archiveNameOf(build))
  const key = { build: build.id, attempt: build.artifacts_attempt }
  await sendArtifactFromBucket(key, { type: 'application/zip', disposition })
}

/** Opens the archive of a build, or a part of it. Returns undefined when the archive does not exist or has expired. */
export async function openArtifactsOf(build: ArtifactsRow, choose?: ChooseRange) {
  if (!hasArtifacts(build) || build.artifacts_attempt === null) return undefined
  return openArtifact({ build: build.id, attempt: build.artifacts_attempt }, choose)
}
