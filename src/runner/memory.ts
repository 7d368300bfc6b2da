// Counts the memory of a build: of all its processes together, with what they share, and with the files that it keeps in
// memory. No limit of a process can bound that sum. A cgroup can; where there is none, this file watches.
import { readFileSync, statfsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { ifThere } from '../lib/if-there.js'
import type { Members } from './members.js'

/** The folders of a sandbox whose files are in memory. */
const IN_MEMORY = ['/tmp', '/dev/shm']

interface Resident {
  readonly folder: string
  readonly own: number
  readonly shared: number
}

/**
 * Returns the bytes of memory that the processes use at the most: pages that processes share count several times here, as
 * that is cheaper to find out. `hidden` are the bytes of `hiddenFiles`. Programs and libraries do not count: they are on
 * the disk, and the kernel drops them when it must. This reads at once and waits for nothing, because it is repeated until
 * the limit is near.
 */
export async function memoryAtMost(members: Members, hidden: number): Promise<number> {
  return total(resident(await members.list()), hidden + (await filesInMemory(members)))
}

/** Returns the bytes of memory that the processes use. Pages that they share count once, which takes the kernel long. */
export async function usedMemory(members: Members, hidden: number): Promise<number> {
  const found = resident(await members.list())
  return total(await Promise.all(found.map(shareOf)), hidden + (await filesInMemory(members)))
}

/** Returns the bytes of memory that all programs of the machine share, and that files in memory take. */
export function sharedOnMachine(): number {
  return bytesIn(ifThere(() => readFileSync('/proc/meminfo', 'latin1')) ?? '', 'Shmem')
}

/** Mapped memory may be part of `held`, so that only the larger of the two counts. */
function total(found: readonly Resident[], held: number): number {
  const sum = (of: 'own' | 'shared') => found.reduce((bytes, one) => bytes + one[of], 0)
  return sum('own') + Math.max(sum('shared'), held)
}

function resident(folders: readonly string[]): Resident[] {
  return folders.flatMap(folder => {
    const text = ifThere(() => readFileSync(`${folder}/status`, 'latin1'))
    if (text === undefined) return []
    return { folder, own: bytesIn(text, 'RssAnon') + bytesIn(text, 'VmSwap'), shared: bytesIn(text, 'RssShmem') }
  })
}

/** The same for a process whose memory is divided among all that have it. */
async function shareOf(one: Resident): Promise<Resident> {
  const text = await readFile(`${one.folder}/smaps_rollup`, 'latin1').catch(() => '')
  // A process that has just ended has none.
  if (!text.includes('Pss_Anon')) return { ...one, own: 0, shared: 0 }
  return { ...one, own: bytesIn(text, 'Pss_Anon') + bytesIn(text, 'SwapPss'), shared: bytesIn(text, 'Pss_Shmem') }
}

function bytesIn(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024
}

async function filesInMemory(members: Members): Promise<number> {
  const root = await members.root()
  if (root === undefined) return 0
  let bytes = 0
  for (const folder of IN_MEMORY) {
    const { blocks, bfree, bsize } = ifThere(() => statfsSync(root + folder)) ?? NO_SPACE
    bytes += (blocks - bfree) * bsize
  }
  return bytes
}

const NO_SPACE = { blocks: 0, bfree: 0, bsize: 0 }

/** Files that no folder shows any more, which only a process holds. */
export interface HiddenFiles {
  /** Bytes in memory: what a program shares without a file, or by memfd_create. */
  readonly memory: number
  /** Bytes on the disk `device`: files that were removed while they were open. */
  readonly disk: number
}

/**
 * Returns how much the open and the mapped files of the processes hold beside the files in folders. Memory that is
 * shared stays in use when no process has it in its page tables, so that the sums of the processes miss it. Not
 * specified: only root may look at mapped files that are closed; for a worker of another user they count as long as they
 * are in page tables.
 */
export async function hiddenFiles(members: Members, device: number): Promise<HiddenFiles> {
  const elsewhere = new Set<number>()
  const root = await members.root()
  for (const folder of root === undefined ? [] : IN_MEMORY) {
    const found = await stat(root + folder).catch(() => undefined)
    if (found) elsewhere.add(found.dev)
  }
  const seen = new Map<string, { readonly bytes: number; readonly onDisk: boolean }>()
  const note = async (path: string) => {
    const found = await stat(path).catch(() => undefined)
    if (!found?.isFile() || found.nlink > 0 || elsewhere.has(found.dev)) return
    seen.set(`${found.dev}:${found.ino}`, { bytes: found.blocks * 512, onDisk: found.dev === device })
  }
  for (const folder of await members.list()) {
    for (const name of await readdir(`${folder}/fd`).catch(() => [])) await note(`${folder}/fd/${name}`)
    for (const name of await sharedMappings(folder)) await note(`${folder}/map_files/${name}`)
  }
  const sum = (onDisk: boolean) =>
    [...seen.values()].reduce((bytes, file) => bytes + (file.onDisk === onDisk ? file.bytes : 0), 0)
  return { memory: sum(false), disk: sum(true) }
}

/** Returns the names of the mappings whose files are removed, as /proc/PID/map_files names them. */
async function sharedMappings(folder: string): Promise<string[]> {
  const maps = await readFile(`${folder}/maps`, 'latin1').catch(() => '')
  return [...maps.matchAll(/^(\w+-\w+) ...s .*\(deleted\)$/gm)].map(found =>
    (found[1] ?? '')
      .split('-')
      .map(address => address.replace(/^0+(?=.)/, ''))
      .join('-')
  )
}
