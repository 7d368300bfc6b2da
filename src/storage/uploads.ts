// Stores the files that users attach to a project: HOME/uploads/PROJECT/SECRET/NAME, or an object with the same name in the
// bucket. A file is complete or absent, and never changes.
import { randomBytes } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import { config } from '../config.js'
import type { TooLarge } from '../errors.js'
import { openBlob, putBlob } from './blobs.js'
import { type DirectAnswer, sendFromBucket } from './direct-downloads.js'
import { isMissing } from './files.js'
import { hasBucket } from './places.js'
import { listObjects, removeObject, type StoredObject } from './s3.js'

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

const objectOf = (path: string) => relative(config().home, path)
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
  const { size } = await putBlob({ kind: 'uploads', name: objectOf(path), source, limit, excess })
  return { key, size }
}

/** Returns a file, or undefined when there is none. A caller that does not read the stream to its end must destroy it. */
export async function openUpload(key: UploadKey): Promise<{ size: number; stream: Readable } | undefined> {
  const path = pathOf(key)
  if (path === null) return undefined
  return openBlob(objectOf(path))
}

/** Throws FoundElsewhere, unless the server must send the file. */
export async function sendUploadFromBucket(key: UploadKey, answer: DirectAnswer): Promise<void> {
  const path = pathOf(key)
  if (path !== null) await sendFromBucket(objectOf(path), answer)
}

/** Removes one file, if it exists. */
export async function removeUpload(key: UploadKey): Promise<void> {
  const path = pathOf(key)
  if (path === null) return
  if (hasBucket()) await removeObject(objectOf(path))
  await rm(dirname(path), { recursive: true, force: true })
}

/** Removes all files of a project. */
export async function removeUploads(project: number): Promise<void> {
  await rm(folderOf(project), { recursive: true, force: true })
  for await (const page of keptUploads(project)) for (const { name } of page) await removeObject(name)
}

export interface ListedUpload extends UploadKey {
  /** Bytes. */
  readonly size: number
}

/** Yields the files of a project, on the disk and in the bucket. It looks at every file. */
export async function* listUploads(project: number): AsyncGenerator<ListedUpload> {
  const local = new Set<string>()
  for (const secret of await namesIn(folderOf(project))) {
    for (const name of await namesIn(join(folderOf(project), secret))) {
      const path = join(folderOf(project), secret, name)
      const size = await stat(path).then(({ size }) => size, ifMissing)
      if (size === undefined) continue
      local.add(objectOf(path))
      yield { project, secret, name, size }
    }
  }
  for await (const page of keptUploads(project)) {
    for (const { name: object, size } of page) {
      const [secret = '', name = ''] = object.split('/').slice(-2)
      // A file that is being moved is in both places.
      if (!local.has(object)) yield { project, secret, name, size }
    }
  }
}

/** Counts the files of a project, and their bytes. It looks at every file. */
export async function measureUploads(project: number): Promise<{ files: number; bytes: number }> {
  const found = { files: 0, bytes: 0 }
  for await (const { size } of listUploads(project)) {
    found.files++
    found.bytes += size
  }
  return found
}

/** Yields the files of all projects that are on the disk. */
export async function* localUploads(): AsyncGenerator<{ readonly path: string; readonly project: number }> {
  const root = join(config().home, 'uploads')
  for (const project of (await namesIn(root)).filter(name => /^\d{1,10}$/.test(name))) {
    for (const secret of (await namesIn(join(root, project))).filter(name => SECRET.test(name))) {
      for (const name of await namesIn(join(root, project, secret))) {
        yield { path: join(root, project, secret, name), project: Number(project) }
      }
    }
  }
}

async function* keptUploads(project: number): AsyncGenerator<StoredObject[]> {
  if (hasBucket()) yield* listObjects(`${objectOf(folderOf(project))}/`)
}

const namesIn = async (folder: string): Promise<string[]> => (await readdir(folder).catch(ifMissing)) ?? []

/** Ignores a missing file: the project may be removed at the same time. */
function ifMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}
