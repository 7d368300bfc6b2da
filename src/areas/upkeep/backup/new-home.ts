// The folder that a restore fills. It lies inside the new home and names the process that fills it. Its content moves up
// when all of it is on the disk, secrets.json last: a folder without that file is not a home. So whatever kills a
// restore, the next restore finds what it may remove, and no other command takes the folder for a home.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { AlreadyRunning, Conflict, Failure } from '../../../errors.js'
import { makeFolders, namesIn, RESTORE_DRAFT, RESTORE_LOG } from '../../../home.js'
import { startOf } from '../../../lib/process-status.js'
import { syncFolder } from '../../../storage/files.js'

/** Lists the names that move up. It is written before the first of them moves. */
const MOVING = 'moving.json'
const LAST = 'secrets.json'
/** Bytes of a log that are kept. */
const LOG_END = 65_536

/** Throws Conflict when a folder holds anything but what killed restores left, AlreadyRunning while a restore fills it. */
export function requireEmptyHome(home: string): void {
  const names = namesIn(home)
  const drafts = names.filter(name => name.startsWith(RESTORE_DRAFT))
  const living = drafts.map(processOf).find(({ pid, start }) => startOf(pid) === start)
  if (living) throw new AlreadyRunning(`process ${living.pid} restores into ${home}: wait for its end`)
  // A home has this file: whatever lies beside it, nothing of it may go.
  const moved = new Set(names.includes(LAST) ? [] : drafts.flatMap(draft => movedFrom(join(home, draft))))
  const found = names.filter(
    name => !drafts.includes(name) && !moved.has(name) && name !== 'lost+found' && name !== RESTORE_LOG
  )
  if (found.length > 0) throw new Conflict(`${home} is not empty: restore into a new folder`)
}

/** Makes the folder to fill, and removes what killed restores left. Call it after `requireEmptyHome`. */
export function draftFolder(home: string): string {
  requireEmptyHome(home)
  const draft = join(home, `${RESTORE_DRAFT}${process.pid}-${startOf(process.pid) ?? 0}`)
  makeFolders(draft)
  for (const name of namesIn(home)) {
    if (name === 'lost+found' || join(home, name) === draft) continue
    // The drafts go after what has moved out of them: they say what may go.
    if (!name.startsWith(RESTORE_DRAFT)) rmSync(join(home, name), { recursive: true, force: true })
  }
  for (const name of namesIn(home)) {
    if (name.startsWith(RESTORE_DRAFT) && join(home, name) !== draft) {
      rmSync(join(home, name), { recursive: true, force: true })
    }
  }
  return draft
}

/** Moves the content of the filled folder up. The home exists from the moment at which the last name has moved. */
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
    // The home exists only with the last name, so this one is to be empty again.
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
    // The list was not written completely, so nothing has moved.
    return []
  }
}

/**
 * Removes the filled folder after a failure, and keeps the end of its database's log when the failure names it. Returns
 * the failure, which then names the copy in `home`.
 */
export function withDatabaseLog(error: unknown, draft: string | undefined, home: string, name = RESTORE_LOG): unknown {
  if (draft === undefined) return error
  const log = join(draft, 'run/mysql.log')
  const names = error instanceof Failure && error.message.includes(log)
  const end = names && existsSync(log) ? readFileSync(log).subarray(-LOG_END) : undefined
  // On a full disk, this makes the room for the copy.
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
