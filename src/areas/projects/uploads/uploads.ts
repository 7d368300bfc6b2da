// Files that users attach to texts of a project.
import type { Readable } from 'node:stream'
import { nobody } from '../../../access/actor.js'
import { BadParameters, NotFound, TooLarge } from '../../../errors.js'
import { contentDisposition } from '../../../lib/disposition.js'
import {
  openUpload,
  putUpload,
  removeUpload,
  sendUploadFromBucket,
  UPLOAD_NAME,
  type UploadKey
} from '../../../storage/uploads.js'
import { applicationSettings } from '../../ground/settings/settings.queries.js'
import { findProject } from '../projects/projects.queries.js'
import { countUpload, requireRoom } from './upload-room.js'

const MEGABYTE = 1_048_576
const LONGEST = 200

/**
 * Stores a file. Throws TooLarge when it exceeds the setting max_attachment_size or the project has no room for it, and
 * BadParameters without a name.
 */
export async function storeUpload(
  { id: project }: { readonly id: number },
  file: { readonly name: string; readonly stream: Readable }
): Promise<UploadKey> {
  const { max_attachment_size: most } = await applicationSettings()
  const excess = new TooLarge(`413 Request Entity Too Large - a file has at most ${most} MB (max_attachment_size)`)
  const name = safeName(file.name)
  await requireRoom(project)
  const { key, size } = await putUpload({ project, name }, file.stream, { limit: most * MEGABYTE, excess })
  try {
    // The project was removed in the meantime: the job that removes its files may have run already.
    if (!(await findProject(project, nobody))) throw new NotFound('Project')
    await countUpload(project, size)
    return key
  } catch (error) {
    await removeUpload(key)
    throw error
  }
}

/** Makes a name that is safe in a path, a URL and Markdown. Throws BadParameters for an empty name. */
export function safeName(original: string): string {
  const base = original.replace(/^.*[/\\]/s, '')
  if (base === '') throw new BadParameters('file is invalid', '400 (Bad request) "file" has no name')
  const ending = /\.[A-Za-z0-9]{1,10}$/.exec(base)?.[0] ?? ''
  const stem = base
    .slice(0, base.length - ending.length)
    .replace(/[^A-Za-z0-9_.+-]/gu, '_')
    .replace(/^\.+/, '_')
    .slice(0, LONGEST - ending.length)
  const name = stem === '' ? `_${ending}` : `${stem}${ending}`
  return UPLOAD_NAME.test(name) ? name : '_'
}

/** Opens a file of a project. Throws NotFound, and FoundElsewhere if `direct` is true. */
export async function readUpload(key: UploadKey, { direct = false } = {}): Promise<{ size: number; stream: Readable }> {
  if (direct) {
    const disposition = contentDisposition('attachment', key.name)
    await sendUploadFromBucket(key, { type: 'application/octet-stream', disposition })
  }
  const file = await openUpload(key)
  if (!file) throw new NotFound('File')
  return file
}
