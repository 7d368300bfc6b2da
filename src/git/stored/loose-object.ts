// Reads loose objects: a file each, compressed, with a head of type and size.
import { close, fstat, open, read } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inflateSync } from 'node:zlib'
import { LeaveToGit } from './leave-to-git.js'
import type { StoredObject } from './pack.js'

const files = { open: promisify(open), fstat: promisify(fstat), read: promisify(read) }

/** Bytes of a file that is read here. */
const LARGEST_FILE = 65_536
/** Bytes that it may give. */
const LARGEST_OBJECT = 1024 * 1024
const HEAD = /^(commit|tree|blob|tag) (\d{1,10})$/

/** Returns the loose object with a full id, or null when there is no such file. Throws LeaveToGit for a large one. */
export async function readLoose(repository: string, id: string): Promise<StoredObject | null> {
  const descriptor = await files.open(join(repository, 'objects', id.slice(0, 2), id.slice(2)), 'r').catch(missing)
  if (descriptor === null) return null
  try {
    const { size } = await files.fstat(descriptor)
    if (size > LARGEST_FILE) throw new LeaveToGit('a large loose object')
    const compressed = Buffer.allocUnsafe(size)
    const { bytesRead } = await files.read(descriptor, compressed, 0, size, 0)
    return parse(inflateSync(compressed.subarray(0, bytesRead), { maxOutputLength: LARGEST_OBJECT }))
  } finally {
    close(descriptor)
  }
}

function parse(raw: Buffer): StoredObject {
  const end = raw.indexOf(0)
  const [, type, size] = HEAD.exec(raw.toString('latin1', 0, Math.min(end, 40))) ?? []
  const content = raw.subarray(end + 1)
  if (end === -1 || !type || Number(size) !== content.length) throw new LeaveToGit('a loose object has another head')
  return { type: type as StoredObject['type'], size: content.length, content }
}

function missing(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error
  return null
}
