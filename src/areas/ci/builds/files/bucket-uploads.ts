// Moves files of builds, and uploads, from the disk to the bucket, if one is configured. A trace grows on the disk, because objects
// cannot grow.
import { config } from '../../../../config.js'
import { marks, rows } from '../../../../db/connect/sql.js'
import type { Task, TaskContext } from '../../../../queue/task.js'
import { hasBucket } from '../../../../storage/s3.js'
import { moveToBucket, type StoredFile, storedFiles, storedFolders } from '../../../../storage/stored-files.js'
import { keepsInBucket, localUploads } from '../../../../storage/uploads.js'

/** A runner may write its last lines after the end of the build. */
const AGE_MS = 600_000

export const bucketUploads: Task = {
  name: 'bucket_uploads',
  schedule: '9-59/20 * * * *',
  about:
    'moves the traces of ended builds, older archives, and uploads if `uploads.bucket` is true, to the bucket of `artifacts.s3`',
  run: upload
}

async function upload(context: TaskContext, now = Date.now()): Promise<undefined> {
  if (!hasBucket()) return
  await moveBuildFiles(context, now)
  if (keepsInBucket()) await moveUploads(context)
}

async function moveUploads({ dryRun, signal, count, note }: TaskContext): Promise<void> {
  for await (const { path, project } of localUploads()) {
    signal.throwIfAborted()
    if (!dryRun) await moveToBucket(path, { keeps: true })
    count()
    note(`an upload of project ${project} to ${config().artifacts.s3.bucket}`)
  }
}

async function moveBuildFiles({ dryRun, signal, count, note }: TaskContext, now: number): Promise<void> {
  const before = new Date(now - AGE_MS)
  for (const kind of ['traces', 'artifacts'] as const) {
    for (const folder of await storedFolders(kind)) {
      for (const file of await ended(await storedFiles(kind, folder), before)) {
        signal.throwIfAborted()
        if (!dryRun) await moveToBucket(file.path)
        count()
        note(`${kind} of build ${file.build} to ${config().artifacts.s3.bucket}`)
      }
    }
  }
}

/** Returns the files of builds that ended before a moment. Files without a row stay: the task `orphaned_files` handles them. */
async function ended(files: readonly StoredFile[], before: Date): Promise<StoredFile[]> {
  if (files.length === 0) return []
  const found = await rows<{ id: number }>(
    `select id from builds where id in (${marks(files)}) and finished_at < ?
       and status in ('success', 'failed', 'canceled')`,
    [...files.map(({ build }) => build), before]
  )
  const over = new Set(found.map(({ id }) => id))
  return files.filter(({ build }) => over.has(build))
}
