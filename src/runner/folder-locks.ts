// A work folder belongs to the process that holds the lock of the file next to it. The kernel releases the lock when that process
// ends, for any reason. The number of a process proves nothing: another container may use the same folder, and has other numbers.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, unlink } from 'node:fs/promises'

export const LOCK_ENDING = '.lock'

/** The locks of this process. A closed file is an open lock. */
const held = new Map<string, FileHandle>()

/** Locks a work folder that does not exist yet. Returns false when another process was faster and has taken it for a leftover. */
export async function lockFolder(work: string): Promise<boolean> {
  const path = work + LOCK_ENDING
  return hold(work, await open(path, 'wx+', 0o600))
}

/** Locks a work folder whose process has ended. Returns false when a process still holds it, or when it belongs to another user. */
export async function takeOver(work: string): Promise<boolean> {
  const { O_RDWR, O_NOFOLLOW, O_NONBLOCK } = constants
  const file = await open(work + LOCK_ENDING, O_RDWR | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined)
  return file !== undefined && hold(work, file)
}

/** Gives up the lock of a work folder that no longer exists, if this process has it. */
export async function unlockFolder(work: string): Promise<void> {
  const file = held.get(work)
  if (!file) return
  held.delete(work)
  await unlink(work + LOCK_ENDING).catch(() => undefined)
  await file.close()
}

/** Throws when the program for the lock cannot be started. */
async function hold(work: string, file: FileHandle): Promise<boolean> {
  let isHeld = false
  try {
    isHeld = (await isOwn(file)) && (await locks(file)) && (await isThere(work, file))
  } finally {
    if (!isHeld) await file.close()
  }
  if (isHeld) held.set(work, file)
  return isHeld
}

async function isOwn(file: FileHandle): Promise<boolean> {
  const found = await file.stat()
  return found.isFile() && found.uid === process.getuid?.()
}

/** Node.js has no call for this. The lock belongs to the open file, so it stays when the program that took it has ended. */
async function locks({ fd }: FileHandle): Promise<boolean> {
  const child = spawn('flock', ['--exclusive', '--nonblock', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', fd],
    cwd: '/'
  })
  const [code] = await once(child, 'exit')
  return code === 0
}

/** Returns false when the file was removed before it was locked. */
async function isThere(work: string, file: FileHandle): Promise<boolean> {
  const [own, found] = [await file.stat(), await lstat(work + LOCK_ENDING).catch(() => undefined)]
  return found?.ino === own.ino && found.dev === own.dev
}
