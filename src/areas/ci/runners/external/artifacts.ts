// Artifacts of builds on external runners, and the downloads of the artifacts that they depend on.
import type { Readable } from 'node:stream'
import { execute, row } from '../../../../db/connect/sql.js'
import { BadRequest, Forbidden, NothingThere } from '../../../../errors.js'
import { parseDuration } from '../../../../lib/duration.js'
import { archiveName } from '../../../../runner/files/artifacts.js'
import { tokenHash } from '../../../../secrets.js'
import { removeArtifact } from '../../../../storage/artifacts.js'
import { countArtifacts } from '../../../projects/projects/project-statistics.js'
import {
  type ArtifactsRow,
  archiveNameOf,
  openArtifactsOf,
  sendDirectly,
  storeArtifacts
} from '../../builds/artifacts.js'
import { needsOuter } from '../downstream/outer-needs.js'
import { type HeldBuild, NotHeld } from './held-builds.js'
import { readToEnd, receiveVariables } from './reports.js'

export interface UploadParameters {
  readonly expire_in?: string
  readonly artifact_type?: string
  readonly artifact_format?: string
}

export interface Upload {
  /** `archive`, or the name of a report such as `junit`. */
  readonly type: string
  /** `zip`, `gzip` or `raw`. */
  readonly format: string
  /** Seconds until the artifacts expire; null for never. */
  readonly expireIn: number | null
}

/** The formats of the files that the server reads; other files may have any format. */
const FORMATS = new Map([
  ['archive', ['zip']],
  ['dotenv', ['gzip', 'raw']]
])

/** Reads the runner's description of an uploaded file. Throws BadRequest. */
export function checkUpload({ expire_in, artifact_type, artifact_format }: UploadParameters): Upload {
  const type = artifact_type || 'archive'
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(type)) {
    throw new BadRequest('400 (Bad request) "artifact_type" must be archive or the name of a report')
  }
  const formats = FORMATS.get(type) ?? ['zip', 'gzip', 'raw']
  const format = artifact_format || 'zip'
  if (!formats.includes(format)) {
    throw new BadRequest(`400 (Bad request) "artifact_format" must be ${formats.join(', ')}`)
  }
  if (expire_in === undefined || expire_in === '') return { type, format, expireIn: null }
  const seconds = parseDuration(expire_in)
  if (seconds === undefined) throw new BadRequest('400 (Bad request) "expire_in" is not a duration')
  return { type, format, expireIn: seconds }
}

interface UploadedFile {
  readonly name: string
  readonly stream: Readable
}

interface UploadingBuild extends HeldBuild {
  readonly shown: string
}

/**
 * Stores a file of a running build. Throws TooLarge, NotHeld when the build ended in the meantime, and Invalid for a
 * report that cannot be read.
 */
export function receiveUpload(
  build: UploadingBuild,
  file: UploadedFile,
  { type, format, expireIn }: Upload
): Promise<void> {
  if (type === 'archive') return receiveArchive(build, file, expireIn)
  return type === 'dotenv' ? receiveVariables(build, file.stream, format) : readToEnd(file.stream)
}

async function receiveArchive(build: UploadingBuild, file: UploadedFile, expireIn: number | null): Promise<void> {
  const { buildId, pipelineId, attempt, shown: token } = build
  const filename = archiveName(file.name.replace(/^.*[/\\]/s, '').replace(/\.zip$/i, ''))
  if (await storeArtifacts({ buildId, pipelineId, attempt, token }, { path: file.stream, filename }, expireIn)) return
  await removeArtifact({ build: buildId, attempt })
  throw new NotHeld()
}

interface Consumer {
  readonly pipeline_id: number
  readonly project_id: number
  readonly user_id: number | null
  readonly plan: string
}

interface Producer extends ArtifactsRow {
  readonly pipeline_id: number
}

/**
 * Opens the archive of a build for the running build with this token: a build of the same pipeline, one that needs the
 * archive, or the build itself. Throws Forbidden, NothingThere, and FoundElsewhere if `direct` is true.
 */
export async function openDependency(id: number, token: string | undefined, direct = false) {
  const consumer =
    token === undefined
      ? undefined
      : await row<Consumer>(
          `select pipeline_id, project_id, user_id, plan from builds where token_hash = ? and status = 'running'`,
          [tokenHash(token)]
        )
  if (!consumer) throw new Forbidden()
  const producer = await row<Producer>(
    `select id, pipeline_id, artifacts_filename, artifacts_attempt, artifacts_expire_at from builds
     where id = ?`,
    [id]
  )
  if (!producer) throw new NothingThere()
  if (producer.pipeline_id !== consumer.pipeline_id && !(await needsOuter(consumer, id))) throw new Forbidden()
  if (direct) await sendDirectly(producer)
  const archive = await openArtifactsOf(producer)
  if (!archive) throw new NothingThere()
  return { ...archive, filename: archiveNameOf(producer) }
}

/** Removes the archive of a running build. */
export async function dropArchive({ buildId, attempt, token }: HeldBuild): Promise<void> {
  const found = await row<{ size: number | null }>('select artifacts_size as size from builds where id = ?', [buildId])
  const { affectedRows } = await execute(
    `update builds set artifacts_filename = null, artifacts_size = null, artifacts_sha256 = null,
       artifacts_attempt = null, artifacts_expire_at = null
     where id = ? and token_hash = ? and artifacts_filename is not null`,
    [buildId, token]
  )
  if (affectedRows === 0) return
  // The row no longer names the file, so a crash here leaves an orphan, which the task `orphaned_files` removes.
  await removeArtifact({ build: buildId, attempt })
  await countArtifacts(buildId, -(found?.size ?? 0))
}
