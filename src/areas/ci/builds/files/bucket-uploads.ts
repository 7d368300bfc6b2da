// Moves files from the disk to the bucket, for each kind whose place is s3: files of builds, and uploads. A trace grows on the disk or
// in the database, because objects cannot grow.
import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { config } from '../../../../config.js'
import { marks, rows } from '../../../../db/connect/sql.js'
import type { Task, TaskContext } from '../../../../queue/task.js'
import { pathOfBlob } from '../../../../storage/blobs.js'
import { makeFolderOf, objectOf, removeFile } from '../../../../storage/files.js'
import { localLfsObjects } from '../../../../storage/lfs.js'
import { hasBucket, placeOf } from '../../../../storage/places.js'
import { putObject } from '../../../../storage/s3.js'
import { moveToBucket, type StoredFile, storedFiles, storedFolders } from '../../../../storage/stored-files.js'
import { localUploads } from '../../../../storage/uploads.js'
import { type EndedTrace, endedTraces, traceRowsOfBuilds } from './trace-rows.js'

/** A runner may write its last lines after the end of the build. */
const AGE_MS = 600_000

export const bucketUploads: Task = {
  name: 'bucket_uploads',
  schedule: '9-59/20 * * * *',
  about: 'moves the traces of ended builds, and older files of kinds whose place is `s3` (`storage`), to the bucket',
  run: upload
}

async function upload(context: TaskContext, now = Date.now()): Promise<undefined> {
  if (!hasBucket()) return
  const before = new Date(now - AGE_MS)
  if (placeOf('traces') === 's3') await moveTraceRows(context, before)
  for (const kind of ['traces', 'artifacts'] as const) {
    if (placeOf(kind) === 's3') await moveBuildFiles(kind, context, before)
  }
  if (placeOf('uploads') === 's3') await moveUploads(context)
  if (placeOf('lfs') === 's3') await moveLfsObjects(context)
}

async function moveLfsObjects({ dryRun, signal, count, note }: TaskContext): Promise<void> {
  for await (const batch of localLfsObjects()) {
    for (const { name } of batch) {
      signal.throwIfAborted()
      if (!dryRun) await moveToBucket(pathOfBlob(name), { keeps: true })
      count()
      note(`the LFS object ${basename(name)} to the bucket`)
    }
  }
}

async function moveUploads({ dryRun, signal, count, note }: TaskContext): Promise<void> {
  for await (const { path, project } of localUploads()) {
    signal.throwIfAborted()
    if (!dryRun) await moveToBucket(path, { keeps: true })
    count()
    note(`an upload of project ${project} to the bucket`)
  }
}

async function moveBuildFiles(
  kind: 'traces' | 'artifacts',
  { dryRun, signal, count, note }: TaskContext,
  before: Date
): Promise<void> {
  for (const folder of await storedFolders(kind)) {
    for (const file of await endedOf(await storedFiles(kind, folder), before)) {
      signal.throwIfAborted()
      if (!dryRun) await moveToBucket(file.path)
      count()
      note(`${kind} of build ${file.build} to the bucket`)
    }
  }
}

/** Returns the files of builds that ended before a moment. Files without a row stay: the task `orphaned_files` handles them. */
export async function endedOf<File extends Pick<StoredFile, 'build'>>(
  files: readonly File[],
  before = new Date(Date.now() - AGE_MS)
): Promise<File[]> {
  if (files.length === 0) return []
  const found = await rows<{ id: number }>(
    `select id from builds where id in (${marks(files)}) and finished_at < ?
       and status in ('success', 'failed', 'canceled')`,
    [...files.map(({ build }) => build), before]
  )
  const over = new Set(found.map(({ id }) => id))
  return files.filter(({ build }) => over.has(build))
}

async function moveTraceRows({ dryRun, signal, count, note }: TaskContext, before: Date): Promise<void> {
  for (const trace of await endedTraces(before)) {
    signal.throwIfAborted()
    if (!dryRun) await moveRows(trace)
    count()
    note(`the trace of build ${trace.build} from the database to the bucket`)
  }
}

/** A crash leaves the trace in both places, and the next run removes the rows. */
async function moveRows(trace: EndedTrace): Promise<void> {
  const { build, attempt, wanted } = trace
  const size = await traceRowsOfBuilds.size(trace)
  if (wanted && size > 0) {
    const draft = join(config().home, 'tmp', `trace-${build}-${attempt}-${process.pid}`)
    await makeFolderOf(draft)
    try {
      await pipeline(() => piecesOf(trace, size), createWriteStream(draft, { mode: 0o600 }))
      await putObject(objectOf('traces', trace), draft, (await stat(draft)).size)
    } finally {
      await removeFile(draft)
    }
    // A late line: the next run moves it too.
    if ((await traceRowsOfBuilds.size(trace)) !== size) return
  }
  await traceRowsOfBuilds.remove(trace)
}

async function* piecesOf(trace: EndedTrace, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; ) {
    const piece = await traceRowsOfBuilds.read(trace, at, 4_194_304)
    if (piece.length === 0) return
    at += piece.length
    yield piece
  }
}
