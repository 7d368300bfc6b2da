// Decides where the private database creates its temporary tables. Lists of projects and users need such tables, though small
// ones, and a full disk has no room for them: then nobody could read existing data. Therefore the server gets a symbolic link,
// which it resolves again for each table. The link points to HOME/tmp, and to memory while the disk of the home is full.
import { readlinkSync, renameSync, rmSync, statfsSync, symlinkSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { config } from '../../config.js'
import { makePrivate, outsideFolder } from '../../home.js'

const MEMORY = '/dev/shm'
const TMPFS = 0x01021994
const ON_DISK = '../tmp'
const MIB = 2 ** 20
/** How many bytes may fill in a millisecond. A disk with much free space is looked at less often. */
const FASTEST = MIB
const LOOK_MS = { least: 1000, most: 10_000 }
/**
 * The disk counts as full below FULL_BELOW free bytes, and as free again from ENOUGH. The difference is more than the server
 * writes within a second.
 */
export const FULL_BELOW = 64 * MIB
const ENOUGH = 128 * MIB

export interface TemporaryTables {
  /** The folder for the server. */
  readonly folder: string
  /** Call this when the server has ended. */
  end(): void
}

/** Keeps the link up to date until `end` is called. Below `low` free bytes, the disk counts as full. */
export async function keepTemporaryTables(low = FULL_BELOW): Promise<TemporaryTables> {
  const disk = join(config().home, 'tmp')
  const link = join(config().home, 'run/tables')
  const memory = inMemory()
  let full = false
  const look = async () => {
    const { bavail, bsize } = await statfs(disk)
    const free = bavail * bsize
    full = memory !== undefined && free < (full ? Math.max(low, ENOUGH) : low)
    // The folder may be gone: another process that waited for this database may have removed it.
    if (full && memory) makePrivate(memory)
    lead(link, full && memory ? memory : ON_DISK)
    return Math.min(Math.max((free - low) / FASTEST, LOOK_MS.least), LOOK_MS.most)
  }
  let timer: NodeJS.Timeout | undefined
  let ended = false
  const lookIn = (milliseconds: number) => {
    if (ended) return
    timer = setTimeout(
      () =>
        void look()
          .catch(() => LOOK_MS.least)
          .then(lookIn),
      milliseconds
    ).unref()
  }
  try {
    lookIn(await look())
  } catch {
    // Not even a link can be created.
    return { folder: disk, end: () => undefined }
  }
  return {
    folder: link,
    end: () => {
      ended = true
      clearTimeout(timer)
      if (memory) rmSync(memory, { recursive: true, force: true })
    }
  }
}

/** Returns the home's folder in memory, or undefined on a machine whose shared memory is not in memory. */
function inMemory(): string | undefined {
  try {
    return statfsSync(MEMORY).type === TMPFS ? outsideFolder(MEMORY) : undefined
  } catch {
    return undefined
  }
}

function lead(link: string, to: string): void {
  if (leadsTo(link) === to) return
  // A full disk has room for a link, because its path is stored in the inode.
  const draft = `${link}.${process.pid}`
  rmSync(draft, { force: true })
  symlinkSync(to, draft)
  renameSync(draft, link)
}

function leadsTo(link: string): string | undefined {
  try {
    return readlinkSync(link)
  } catch {
    return undefined
  }
}
