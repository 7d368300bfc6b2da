// The folders of a home, and the sockets in it.
import { createHash } from 'node:crypto'
import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { config } from './config.js'
import { Misconfigured } from './errors.js'

/** The folders of every home. */
export const HOME_FOLDERS = ['repositories', 'artifacts', 'traces', 'tmp', 'backups', 'run'] as const

/** Makes the home's folders; throws Misconfigured when this user may not. */
export function prepareHome(): void {
  const { home } = config()
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 })
    for (const folder of HOME_FOLDERS) mkdirSync(join(home, folder), { recursive: true, mode: 0o700 })
    for (const folder of ['.', ...HOME_FOLDERS]) accessSync(join(home, folder), constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    throw new Misconfigured(`${path ?? home}: ${code}: give this user the home, or name another with --home`)
  }
}

/** The kernel takes the path of a socket up to 107 bytes; names have 27 at the most. */
const SOCKET_FOLDER_BYTES = 79

/**
 * The path of a socket in the home. A home with a long path has its sockets in a private folder of the system's temporary
 * one: all of them, as workers are found by listing the folder.
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

/** Anybody may have made a folder of this name in the system's temporary one before. */
function requireOwn(folder: string): void {
  const found = lstatSync(folder)
  if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0) return
  throw new Misconfigured(`${folder} is not private to this user: remove it, or choose a --home with a shorter path`)
}
