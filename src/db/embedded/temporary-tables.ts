// Where the private database makes its temporary tables. Lists of projects and users need such tables, though small ones, and
// none can be made on a full disk: then nobody could read what is there. So the server gets a link, which it follows anew for
// each table. It leads to HOME/tmp, and into memory while the disk of the home is full.
import { readlinkSync, renameSync, rmSync, statfsSync, symlinkSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { config } from '../../config.js'
import { makePrivate, outsideFolder } from '../../home.js'

const MEMORY = '/dev/shm'
const TMPFS = 0x01021994
const ON_DISK = '../tmp'
const LOOK_MS = 1000
const MIB = 2 ** 20
/** Less room than this is a full disk, and `ENOUGH` is room again: what the server writes within a second fits between. */
const LOW = 64 * MIB
const ENOUGH = 128 * MIB

export interface TemporaryTables {
  /** The folder for the server. */
  readonly folder: string
  /** Call it when the server has ended. */
  end(): void
}

/** Keeps the link right until `end` is called. Below `low` bytes of room the disk counts as full. */
export async function keepTemporaryTables(low = LOW): Promise<TemporaryTables> {
  const disk = join(config().home, 'tmp')
  const link = join(config().home, 'run/tables')
  const memory = inMemory()
  let full = false
  const look = async () => {
    const { bavail, bsize } = await statfs(disk)
    full = memory !== undefined && bavail * bsize < (full ? Math.max(low, ENOUGH) : low)
    // It may be gone: another process that waited for this database has removed it.
    if (full && memory) makePrivate(memory)
    lead(link, full && memory ? memory : ON_DISK)
  }
  try {
    await look()
  } catch {
    // Not even a link can be made.
    return { folder: disk, end: () => undefined }
  }
  const timer = setInterval(() => void look().catch(() => undefined), LOOK_MS).unref()
  return {
    folder: link,
    end: () => {
      clearInterval(timer)
      if (memory) rmSync(memory, { recursive: true, force: true })
    }
  }
}

/** The home's folder in memory; undefined on a machine whose shared memory is no file system in memory. */
function inMemory(): string | undefined {
  try {
    return statfsSync(MEMORY).type === TMPFS ? outsideFolder(MEMORY) : undefined
  } catch {
    return undefined
  }
}

function lead(link: string, to: string): void {
  if (leadsTo(link) === to) return
  // A full disk has room for a link, as its path lies in its inode.
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
