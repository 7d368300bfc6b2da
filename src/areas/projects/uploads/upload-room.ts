// The limits on the number and total size of one project's uploads. The counts are stored with its other statistics;
// when they are missing, as after a restore, or reach a limit, the files are counted again.
import { config } from '../../../config.js'
import { execute, row } from '../../../db/connect/sql.js'
import { TooLarge } from '../../../errors.js'
import { measureUploads } from '../../../storage/uploads.js'

/** Throws TooLarge when the project is full, before it reads a byte of another file. */
export async function requireRoom(project: number): Promise<void> {
  const { max_files: files, max_size: bytes } = config().uploads
  const full = await row(
    'select 1 from project_statistics where project_id = ? and (uploads_count >= ? or uploads_size >= ?)',
    [project, files, bytes]
  )
  if (full) refuse(await recount(project), 1)
  if (files === 0) throw tooMany()
}

/** Counts a file that is stored. Throws TooLarge when there is no room for it: the caller removes the file. */
export async function countUpload(project: number, size: number): Promise<void> {
  const { max_files: files, max_size: bytes } = config().uploads
  const { affectedRows } = await execute(
    `update project_statistics set uploads_count = uploads_count + 1, uploads_size = uploads_size + ?
     where project_id = ? and uploads_count < ? and uploads_size + ? <= ?`,
    [size, project, files, size, bytes]
  )
  if (affectedRows === 0) refuse(await recount(project), 0)
}

interface Found {
  readonly files: number
  readonly bytes: number
}

/** Counts the files on the disk. Two concurrent counts may differ by a file, which the next count corrects. */
async function recount(project: number): Promise<Found> {
  const found = await measureUploads(project)
  await execute(
    `insert into project_statistics (project_id, uploads_count, uploads_size, updated_at)
     select p.id, ?, ?, ? from projects p where p.id = ?
     on duplicate key update uploads_count = values(uploads_count), uploads_size = values(uploads_size)`,
    [found.files, found.bytes, new Date(), project]
  )
  return found
}

/** Throws TooLarge when the files, with so many more, exceed a limit. */
function refuse({ files, bytes }: Found, more: number): void {
  const { max_files: mostFiles, max_size: mostBytes } = config().uploads
  if (files + more > mostFiles) throw tooMany()
  if (bytes + more > mostBytes) throw new TooLarge(`${TOO_LARGE} at most ${mostBytes} bytes (uploads.max_size)`)
}

const TOO_LARGE = '413 Request Entity Too Large - the uploads of a project have'
const tooMany = () => new TooLarge(`${TOO_LARGE} at most ${config().uploads.max_files} files (uploads.max_files)`)
