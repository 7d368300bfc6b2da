// Limits the disk space of builds. They may fill a disk with many files, which no limit of a process prevents, and the
// database may be on the same disk.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { poll } from './poll.js'

const INTERVAL = 250
const MOST_RESERVE = 536_870_912
/** Milliseconds between two counts of the files of a build. */
const COUNT_INTERVAL = 1000
/** Milliseconds that a count may take while the disk has lost the build's whole allowance: the build may slow the count. */
const COUNT_LIMIT = 5000
/** A file or folder counts as at least this many bytes, because a disk can also run out of inodes. */
const LEAST_PER_ENTRY = 4096

export interface DiskWatch {
  /** Bytes that removed files hold while a process has them open. No folder shows these files. */
  hidden: number
  stop(): Promise<void>
}

export interface DiskOptions {
  readonly folder: string
  /** Bytes that the folder may hold. */
  readonly limit: number
  /** Called once, when the folder holds more. */
  readonly onFull: () => void
  /** Called once, when the disk itself is nearly full. */
  readonly onLow: () => void
  /** Bytes that must stay free; the default is a fiftieth of the disk, but at most half a GiB. */
  readonly reserve?: number
}

/**
 * Watches the folder of a build and its disk, and ends with the first call of `onFull` or `onLow`. A quota would need a
 * separate file system, and root. So the files are counted every second, and at once when the disk has lost as much space as
 * the build may still use: a build that writes very fast gets as far over its limit as the disk allows in half a second.
 */
export function watchDisk(options: DiskOptions): DiskWatch {
  const { folder, limit } = options
  const end = new AbortController()
  const notify = (what: () => void) => {
    if (!end.signal.aborted) what()
    end.abort()
    void stopLooking()
  }
  let before: Space | undefined
  let counted = { bytes: 0, at: performance.now(), took: 0 }
  let counting: { readonly begun: number } | undefined
  const count = async (space: Space) => {
    const begun = performance.now()
    counting = { begun }
    const bytes = await countFolder(folder, limit, end.signal)
    counted = { bytes, at: performance.now(), took: performance.now() - begun }
    before = space
    counting = undefined
  }
  let failed: Promise<void> = Promise.resolve()
  const look = async () => {
    // The folder may be gone at the end of a build. A disk that cannot be checked does not count as full.
    const space = await statfs(folder).catch(() => undefined)
    if (!space || end.signal.aborted) return INTERVAL
    const reserve = options.reserve ?? Math.min(MOST_RESERVE, (space.blocks * space.bsize) / 50)
    if (space.bavail * space.bsize < reserve) notify(options.onLow)
    before ??= space
    const suspect = lost(before, space) > limit - counted.bytes
    const now = performance.now()
    const passed = now - counted.at
    if (counting && suspect && now - counting.begun > COUNT_LIMIT) notify(options.onFull)
    if (!counting && (passed > Math.max(COUNT_INTERVAL, counted.took * 10) || (suspect && passed > counted.took * 2))) {
      failed = count(space)
      failed.catch(() => undefined)
    }
    if (counted.bytes + watch.hidden > limit) notify(options.onFull)
    return INTERVAL
  }
  const stopLooking = poll(look)
  const watch: DiskWatch = {
    hidden: 0,
    stop: () => {
      end.abort()
      return stopLooking().then(() => failed)
    }
  }
  return watch
}

type Space = StatsFs

/** Returns the bytes that the disk has lost, or what its lost inodes count for if that is more. */
const lost = (before: Space, now: Space) =>
  Math.max((before.bavail - now.bavail) * now.bsize, (before.ffree - now.ffree) * LEAST_PER_ENTRY)

/**
 * Returns the bytes in a folder. It stops counting above `enough`. The user of builds may move the folders at the same time;
 * the counting program follows no links.
 */
async function countFolder(folder: string, enough: number, signal: AbortSignal): Promise<number> {
  if (signal.aborted) return 0
  const child = spawn('find', ['-P', folder, '-xdev', '-printf', '%n %i %b\\n'], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'ignore']
  })
  const stop = () => void child.kill('SIGKILL')
  const ended = once(child, 'close')
  ended.catch(() => undefined)
  signal.addEventListener('abort', stop, { once: true })
  const linked = new Set<string>()
  let bytes = 0
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const [names, inode = '', blocks] = line.split(' ')
      if (Number(names) > 1) {
        // A parent folder also has several names; counting it twice matters little.
        if (linked.has(inode)) continue
        linked.add(inode)
      }
      bytes += Math.max(LEAST_PER_ENTRY, Number(blocks) * 512)
      if (bytes > enough) break
    }
  } finally {
    stop()
    signal.removeEventListener('abort', stop)
    await ended
  }
  return bytes
}
