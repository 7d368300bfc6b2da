// Stores the files that users attach to a project: HOME/uploads/PROJECT/SECRET/NAME. A file is complete or absent, and
// never changes.
import { randomBytes } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { config } from '../config.js'
import type { TooLarge } from '../errors.js'
import { isMissing, openPart } from './files.js'
import { putFile } from './put-file.js'

/** Identifies a file. The secret cannot be guessed. */
export interface UploadKey {
  readonly project: number
  /** 32 hex digits. */
  readonly secret: string
  readonly name: string
}

export interface StoredUpload {
  readonly key: UploadKey
  /** Bytes. */
  readonly size: number
}

/** The names that a stored file may have. */
export const UPLOAD_NAME = /^[A-Za-z0-9_+-][A-Za-z0-9_.+-]{0,199}$/
const SECRET = /^[0-9a-f]{32}$/

const folderOf = (project: number) => join(config().home, 'uploads', String(Math.trunc(project)))

function pathOf({ project, secret, name }: UploadKey): string | null {
  return SECRET.test(secret) && UPLOAD_NAME.test(name) ? join(folderOf(project), secret, name) : null
}

/** Stores a file under a new secret, or the given one. It is on the disk when the promise resolves. Throws `excess` above `limit` bytes. */
export async function putUpload(
  { project, name, secret = randomBytes(16).toString('hex') }: Omit<UploadKey, 'secret'> & { readonly secret?: string },
  source: Readable,
  { limit, excess }: { readonly limit: number; readonly excess: TooLarge }
): Promise<StoredUpload> {
  const key = { project, secret, name }
  const path = pathOf(key)
  if (path === null) throw new TypeError(`not a name of an upload: ${name}`)
  const { size } = await putFile(path, source, { folder: 'uploads', limit, excess })
  return { key, size }
}

/** Returns a file, or undefined when there is none. A caller that does not read the stream to its end must destroy it. */
export async function openUpload(key: UploadKey): Promise<{ size: number; stream: Readable } | undefined> {
  const path = pathOf(key)
  if (path === null) return undefined
  return openPart(path)
}

/** Removes one file, if it exists. */
export const removeUpload = (key: UploadKey): Promise<void> =>
  rm(join(folderOf(key.project), key.secret), { recursive: true, force: true })

/** Removes all files of a project. */
export const removeUploads = (project: number): Promise<void> => rm(folderOf(project), { recursive: true, force: true })

/** Counts the files of a project on the disk, and their bytes. It looks at every file. */
export async function measureUploads(project: number): Promise<{ files: number; bytes: number }> {
  const found = { files: 0, bytes: 0 }
  for (const secret of await namesIn(folderOf(project))) {
    for (const name of await namesIn(join(folderOf(project), secret))) {
      const size = await stat(join(folderOf(project), secret, name)).then(({ size }) => size, ifMissing)
      if (size === undefined) continue
      found.files++
      found.bytes += size
    }
  }
  return found
}

const namesIn = async (folder: string): Promise<string[]> => (await readdir(folder).catch(ifMissing)) ?? []

/** Ignores a missing file: the project may be removed at the same time. */
function ifMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}
