// The folders and the sockets of a home.
import { createHash } from 'node:crypto'
import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { config } from './config.js'
import { Misconfigured } from './errors.js'

/** The folders of every home. */
export const HOME_FOLDERS = ['repositories', 'artifacts', 'traces', 'tmp', 'backups', 'run'] as const

/** Creates the home's folders. Throws Misconfigured when this user may not. */
export function prepareHome(): void {
  const { home } = config()
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 })
    for (const folder of HOME_FOLDERS) mkdirSync(join(home, folder), { recursive: true, mode: 0o700 })
    for (const folder of ['.', ...HOME_FOLDERS]) accessSync(join(home, folder), constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    throw new Misconfigured(
      `${path ?? home}: ${code}: make this user the owner of the home, or choose another home with --home`
    )
  }
}

/** The kernel takes the path of a socket up to 107 bytes; names have 27 at the most. */
const SOCKET_FOLDER_BYTES = 79

/**
 * Returns the path of a socket in the home. The kernel allows at most 107 bytes. When the home has a longer path, its
 * sockets are in a private folder inside the system's temporary folder: all of them, as workers are found by listing it.
 */
export function socketPath(name: string): string {
  const inside = join(config().home, 'run')
  if (Buffer.byteLength(inside) <= SOCKET_FOLDER_BYTES) return join(inside, name)
  const key = createHash('sha256').update(config().home).digest('hex').slice(0, 16)
  const folder = join(tmpdir(), `gitstead-${process.getuid?.() ?? 0}-${key}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  requireOwn(folder)
  return join(folder, name)
}

/**
 * Throws Misconfigured unless the folder is private to this user: anybody may have created a folder with this name in
 * the temporary folder before.
 */
function requireOwn(folder: string): void {
  const found = lstatSync(folder)
  if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0) return
  throw new Misconfigured(`${folder} is not private to this user: remove it, or choose a --home with a shorter path`)
}
