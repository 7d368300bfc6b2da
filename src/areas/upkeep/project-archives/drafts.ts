// The unfinished file of an export, next to the final archive. A killed export leaves it behind in its current size, and the next
// export into the same folder removes it.
import { readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { machineMark, runsHere } from '../../../cluster/this-machine.js'
import { startOf } from '../../../lib/process-status.js'

const NAME = /\.unfinished-([0-9a-f]{12})-(\d+)-(\d+)$/
/** Milliseconds. A draft from another machine, or from before a restart, is dead when nothing was written to it for this long. */
const SILENT = 86_400_000

const ownMark = () => machineMark(12)

/** Returns the name of the unfinished file of an archive. It identifies the process that writes it. */
export const draftOf = (path: string): string =>
  `${path}.unfinished-${ownMark()}-${process.pid}-${startOf(process.pid) ?? 0}`

/** Removes drafts of dead processes in the folder of an archive, if this user may. */
export async function removeDeadDrafts(path: string): Promise<void> {
  const folder = dirname(path)
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const draft = join(folder, name)
    // A draft that cannot be removed does no harm: the export continues.
    if (await isDead(name, draft)) await rm(draft, { force: true }).catch(() => undefined)
  }
}

async function isDead(name: string, path: string): Promise<boolean> {
  const [, mark, pid, start] = NAME.exec(name) ?? []
  if (mark === undefined) return false
  if (mark === ownMark()) return !runsHere(Number(pid), Number(start))
  const written = await stat(path).catch(() => undefined)
  return written !== undefined && written.mtimeMs < Date.now() - SILENT
}
