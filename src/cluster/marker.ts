// The file that shows that a folder is a certain storage. Two machines with a folder of the same name do not share it, unless both
// read the same text there.
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageAway } from '../errors.js'

const NAME = '.storage'
const TEXT = /^[0-9a-f]{32}\n?$/
/** Milliseconds. The folder of a file server that is away does not answer at all. */
const PATIENCE = 2000

/** Returns the marker of a folder; null when it has none or does not answer. */
export async function readMarker(folder: string): Promise<string | null> {
  try {
    const text = await readFile(join(folder, NAME), { encoding: 'latin1', signal: AbortSignal.timeout(PATIENCE) })
    return TEXT.test(text) ? text.trim() : null
  } catch {
    return null
  }
}

/** What the system says about a folder whose file system is not mounted, or whose file server is away. */
const AWAY = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'EIO',
  'ENODEV',
  'ENOTCONN',
  'ENOTDIR',
  'ESTALE',
  'EHOSTDOWN',
  'ETIMEDOUT'
])

/** Does something in the folder of a storage. Throws StorageAway when the folder cannot be used. */
export async function inFolder<T>(storage: string, folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw AWAY.has(code) ? new StorageAway(storage, folder, code) : error
  }
}

/** Makes the folder, if needed, and its marker, unless it has one. Returns the marker. */
export async function makeMarker(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  try {
    const marker = randomBytes(16).toString('hex')
    await writeFile(join(folder, NAME), `${marker}\n`, { flag: 'wx', mode: 0o600 })
    return marker
  } catch (error) {
    const known = await readMarker(folder)
    if (known === null) throw error
    return known
  }
}

/**
 * Returns how many bytes are free in the folder of a storage. Returns undefined for a folder that does not answer within a second, such as
 * one of a file server that is away, and for one without the marker of the storage, such as that of a mount that is gone.
 */
export async function freeBytes(path: string, marker: string): Promise<number | undefined> {
  let limit: NodeJS.Timeout | undefined
  const late = new Promise<undefined>(resolve => {
    limit = setTimeout(resolve, 1000, undefined)
  })
  const read = Promise.all([statfs(path), readMarker(path)]).then(
    ([{ bavail, bsize }, found]) => (found === marker ? bavail * bsize : undefined),
    () => undefined
  )
  return Promise.race([read, late]).finally(() => clearTimeout(limit))
}
