// The log of the private database. MariaDB keeps the file open, so a large one is copied and emptied instead of renamed.
import { copyFileSync, openSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { config } from '../../config.js'

/** Bytes after which the log begins again. */
const LARGEST = 4 * 2 ** 20
/** How many older files are kept. */
const OLD_FILES = 2
const LOOK_MS = 60_000

const logPath = (age = 0) => join(config().home, 'run', age === 0 ? 'mysql.log' : `mysql.log.${age}`)

/** Opens the log for a process of MariaDB. The caller must close it. */
export const openLog = () => openSync(logPath(), 'a', 0o600)

/** Keeps the log small, until the returned function is called. */
export function keepLogSmall(): () => void {
  shortenLog()
  const timer = setInterval(shortenLog, LOOK_MS).unref()
  return () => clearInterval(timer)
}

/** Moves the content of a large log into an older file. MariaDB appends, so it continues at the new end. */
export function shortenLog(): void {
  const size = statSync(logPath(), { throwIfNoEntry: false })?.size ?? 0
  if (size <= LARGEST) return
  for (let age = OLD_FILES; age > 1; age--) rename(logPath(age - 1), logPath(age))
  try {
    copyFileSync(logPath(), logPath(1))
  } catch {
    // On a full disk, the space is worth more than old lines.
    rmSync(logPath(1), { force: true })
  }
  truncateSync(logPath())
}

function rename(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch {
    // There are not yet that many files.
  }
}
