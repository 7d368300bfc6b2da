// The folder that a restore fills. It is inside the new home, and its name identifies the process that fills it. When all of its
// content is on the disk, the content moves up, secrets.json last: a folder without that file is not a home. So after a killed
// restore, the next restore knows what it may remove, and no other command mistakes the folder for a home.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { AlreadyRunning, Conflict, Failure } from '../../../errors.js'
import { makeFolders, namesIn, RESTORE_DRAFT, RESTORE_LOG } from '../../../home.js'
import { startOf } from '../../../lib/process-status.js'
import { syncFolder } from '../../../storage/files.js'

/** Lists the names that move up. It is written before any of them moves. */
const MOVING = 'moving.json'
const LAST = 'secrets.json'
/** How many bytes of a log are kept. */
const LOG_END = 65_536

/** Throws Conflict when a folder contains more than the remains of killed restores, and AlreadyRunning while a restore fills it. */
export function requireEmptyHome(home: string): void {
  const names = namesIn(home)
  const drafts = names.filter(name => name.startsWith(RESTORE_DRAFT))
  const living = drafts.map(processOf).find(({ pid, start }) => startOf(pid) === start)
  if (living) throw new AlreadyRunning(`process ${living.pid} restores into ${home}: wait until it ends`)
  // With this file, the folder is a home: then nothing next to the file may be removed.
  const moved = new Set(names.includes(LAST) ? [] : drafts.flatMap(draft => movedFrom(join(home, draft))))
  const found = names.filter(
    name => !drafts.includes(name) && !moved.has(name) && name !== 'lost+found' && name !== RESTORE_LOG
  )
  if (found.length > 0) throw new Conflict(`${home} is not empty: restore into a new folder`)
}

/** Creates the folder to fill, and removes the remains of killed restores. Call it after `requireEmptyHome`. */
export function draftFolder(home: string): string {
  requireEmptyHome(home)
  const draft = join(home, `${RESTORE_DRAFT}${process.pid}-${startOf(process.pid) ?? 0}`)
  makeFolders(draft)
  for (const name of namesIn(home)) {
    if (name === 'lost+found' || join(home, name) === draft) continue
    // Removes the drafts after the content that has moved out of them, because they list what may be removed.
    if (!name.startsWith(RESTORE_DRAFT)) rmSync(join(home, name), { recursive: true, force: true })
  }
  for (const name of namesIn(home)) {
    if (name.startsWith(RESTORE_DRAFT) && join(home, name) !== draft) {
      rmSync(join(home, name), { recursive: true, force: true })
    }
  }
  return draft
}

/** Moves the content of the filled folder up. The home exists as soon as the last name has moved. */
export async function moveUp(draft: string, home: string): Promise<void> {
  const names = readdirSync(draft).sort((one, other) => Number(one === LAST) - Number(other === LAST))
  writeFileSync(join(draft, MOVING), JSON.stringify(names), { flush: true })
  await syncFolder(draft)
  const moved: string[] = []
  try {
    for (const name of names) {
      if (name === LAST) await syncFolder(home)
      renameSync(join(draft, name), join(home, name))
      moved.push(name)
    }
  } catch (error) {
    // The home exists only after the last name has moved, so make this folder empty again.
    for (const name of moved) rmSync(join(home, name), { recursive: true, force: true })
    throw error
  }
  await syncFolder(home)
  rmSync(draft, { recursive: true })
}

function processOf(draft: string): { pid: number; start: number } {
  const [pid, start] = basename(draft).slice(RESTORE_DRAFT.length).split('-')
  return { pid: Number(pid), start: Number(start) }
}

function movedFrom(draft: string): string[] {
  const list = join(draft, MOVING)
  if (!existsSync(list)) return []
  try {
    return JSON.parse(readFileSync(list, 'utf8')) as string[]
  } catch {
    // The list was not completely written, so nothing has moved.
    return []
  }
}

/**
 * Removes the filled folder after a failure, and keeps the end of its database log if the failure mentions the log. Returns the
 * failure, which then names the copy in `home`.
 */
export function withDatabaseLog(error: unknown, draft: string | undefined, home: string, name = RESTORE_LOG): unknown {
  if (draft === undefined) return error
  const log = join(draft, 'run/mysql.log')
  const names = error instanceof Failure && error.message.includes(log)
  const end = names && existsSync(log) ? readFileSync(log).subarray(-LOG_END) : undefined
  // On a full disk, this frees the space for the copy.
  rmSync(draft, { recursive: true, force: true })
  if (!names || !end) return error
  try {
    writeFileSync(join(home, name), end, { mode: 0o600 })
    error.message = error.message.replaceAll(log, join(home, name))
  } catch {
    const said = end.toString('utf8').trim().split('\n').at(-1) ?? ''
    error.message = error.message.replace(`see ${log}`, said)
  }
  return error
}
