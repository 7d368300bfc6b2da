// Reads loose objects: one compressed file each, with a header of type and size.
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { files } from '../sync-files.js'
import { LeaveToGit } from './leave-to-git.js'
import type { StoredObject } from './pack.js'

/** The maximum size of a file that is read here, in bytes. */
const LARGEST_FILE = 65_536
/** The maximum size of its inflated content, in bytes. */
const LARGEST_OBJECT = 1024 * 1024
const HEAD = /^(commit|tree|blob|tag) (\d{1,10})$/

/** Returns the loose object with a full id, or null when there is no such file. Throws LeaveToGit for a large file. */
export async function readLoose(repository: string, id: string): Promise<StoredObject | null> {
  const file = await openThere(join(repository, 'objects', id.slice(0, 2), id.slice(2)))
  if (file === null) return null
  try {
    const size = await files().size(file)
    if (size > LARGEST_FILE) throw new LeaveToGit('a large loose object')
    const compressed = Buffer.allocUnsafe(size)
    const length = await files(size).read(file, compressed, size, 0)
    return parse(inflateSync(compressed.subarray(0, length), { maxOutputLength: LARGEST_OBJECT }))
  } finally {
    await files().close(file)
  }
}

async function openThere(path: string): Promise<number | null> {
  try {
    return await files().open(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return null
  }
}

function parse(raw: Buffer): StoredObject {
  const end = raw.indexOf(0)
  const [, type, size] = HEAD.exec(raw.toString('latin1', 0, Math.min(end, 40))) ?? []
  const content = raw.subarray(end + 1)
  if (end === -1 || !type || Number(size) !== content.length)
    throw new LeaveToGit('the header of a loose object is wrong')
  return { type: type as StoredObject['type'], size: content.length, content }
}
