// Counts the memory of a build: of all its processes together, with shared memory, and with the files that it keeps in memory.
// No limit of a process can bound that sum. A cgroup can; without one, this file watches the sum.
import { readdirSync, readFileSync, statfsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ifAlive } from '../lib/process-status.js'
import type { Members } from './members.js'

/** The folders of a sandbox whose files are in memory. */
const IN_MEMORY = ['/tmp', '/dev/shm']

interface Resident {
  readonly folder: string
  /** Private pages, and the page tables of the kernel: page tables can fill a machine. */
  readonly own: number
  readonly tables: number
  readonly shared: number
  readonly status: string
}

/**
 * Returns the most bytes of memory that the processes can use: pages that processes share count several times here, because
 * that is cheaper to find out. `hidden` is the number of bytes of `hiddenFiles`. Programs and libraries do not count: they are
 * on the disk, and the kernel drops them when it must. This reads synchronously and waits for nothing, because it is repeated
 * until the limit is near.
 */
export async function memoryAtMost(members: Members, hidden: number): Promise<number> {
  return total(resident(await members.list()), hidden + (await filesInMemory(members)))
}

/** Returns the bytes of memory that the processes use. Shared pages count once, which takes the kernel a long time. */
export async function usedMemory(members: Members, hidden: number): Promise<number> {
  const found = withoutBorrowers(resident(await members.list()))
  return total(await Promise.all(found.map(shareOf)), hidden + (await filesInMemory(members)))
}

/** Returns the bytes of memory that all programs of the machine share and that files in memory use. */
export function sharedOnMachine(): number {
  return bytesIn(ifAlive(() => readFileSync('/proc/meminfo', 'latin1')) ?? '', 'Shmem')
}

/** Mapped memory may be part of `held`, so only the larger of the two counts. */
function total(found: readonly Resident[], held: number): number {
  const sum = (of: 'own' | 'shared') => found.reduce((bytes, one) => bytes + one[of], 0)
  return sum('own') + Math.max(sum('shared'), held)
}

function resident(folders: readonly string[]): Resident[] {
  return folders.flatMap(listed => {
    const { folder, status } = withMemory(listed)
    if (status === undefined) return []
    const tables = bytesIn(status, 'VmPTE')
    const own = bytesIn(status, 'RssAnon') + bytesIn(status, 'VmSwap') + tables
    return { folder, own, tables, shared: bytesIn(status, 'RssShmem'), status }
  })
}

/**
 * Returns the folder that shows the memory of a process, and its status. When the first thread of a process has ended, its
 * folder shows no memory and no files any more, although all other threads have them; the folder of another thread shows them.
 */
function withMemory(folder: string): { folder: string; status: string | undefined } {
  const read = (path: string) => ifAlive(() => readFileSync(`${path}/status`, 'latin1'))
  const status = read(folder)
  if (status === undefined || !/^State:\s+Z/m.test(status) || /^Threads:\s+1$/m.test(status)) return { folder, status }
  for (const thread of ifAlive(() => readdirSync(`${folder}/task`)) ?? []) {
    // The list of /proc does not show threads, but their folders are there.
    const path = join(dirname(folder), thread)
    const found = read(path)
    if (found !== undefined && !/^State:\s+Z/m.test(found)) return { folder: path, status: found }
  }
  return { folder, status }
}

/** The same for a process, with shared memory divided among all processes that have it. */
async function shareOf(one: Resident): Promise<Resident> {
  const text = await readFile(`${one.folder}/smaps_rollup`, 'latin1').catch(() => '')
  // A process that has just ended has no such values.
  if (!text.includes('Pss_Anon')) return { ...one, own: 0, shared: 0 }
  const own = bytesIn(text, 'Pss_Anon') + bytesIn(text, 'SwapPss') + one.tables
  return { ...one, own, shared: bytesIn(text, 'Pss_Shmem') }
}

/**
 * Leaves out processes that vfork has made and that have not started their program yet: until then such a process uses the very
 * memory of its parent, whose thread waits for it, and counts as much as the parent. A build may start many programs in this
 * way. No build can hide memory here, because only one process is left out for each waiting thread, and only if it shows the
 * same numbers as its parent.
 */
function withoutBorrowers(found: readonly Resident[]): readonly Resident[] {
  const byNumber = new Map(found.map(one => [numberIn(one.status, 'Tgid'), one]))
  const waiting = new Map<Resident, number>()
  return found.filter(one => {
    const parent = byNumber.get(numberIn(one.status, 'PPid'))
    if (!parent || parent === one || memoryLines(parent.status) !== memoryLines(one.status)) return true
    const threads = waiting.get(parent) ?? waitingThreads(parent.folder)
    waiting.set(parent, threads - 1)
    return threads <= 0
  })
}

const numberIn = (status: string, name: string) => new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]

const memoryLines = (status: string) => status.match(/^(?:Vm|Rss)\w+:.*$/gm)?.join() ?? ''

/** The number of threads of a process that wait in vfork or clone. Stopped threads do not count. */
function waitingThreads(folder: string): number {
  const tasks = ifAlive(() => readdirSync(`${folder}/task`)) ?? []
  return tasks.filter(task => {
    const status = ifAlive(() => readFileSync(`${folder}/task/${task}/status`, 'latin1')) ?? ''
    const call = ifAlive(() => readFileSync(`${folder}/task/${task}/syscall`, 'latin1')) ?? ''
    return /^State:\s+D/m.test(status) && STARTING.includes(Number(call.split(' ')[0]))
  }).length
}

/** The system call numbers of clone and vfork. */
const STARTING = process.arch === 'arm64' ? [220] : [56, 58]

function bytesIn(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024
}

async function filesInMemory(members: Members): Promise<number> {
  const root = await members.root()
  if (root === undefined) return 0
  let bytes = 0
  for (const folder of IN_MEMORY) {
    const { blocks, bfree, bsize } = ifAlive(() => statfsSync(root + folder)) ?? NO_SPACE
    bytes += (blocks - bfree) * bsize
  }
  return bytes
}

const NO_SPACE = { blocks: 0, bfree: 0, bsize: 0 }

/** Files that no folder shows any more, and that only a process holds open. */
export interface HiddenFiles {
  /** Bytes in memory: shared memory without a file, or from memfd_create. */
  readonly memory: number
  /** Bytes on the disk `device`: files that were removed while they were open. */
  readonly disk: number
}

/**
 * Returns how many bytes the open and the mapped files of the processes hold in addition to the files in folders. Shared memory
 * stays in use when no process has it in its page tables, so the sums of the processes miss it. Not specified: only root may
 * look at mapped files that are closed; for a worker of another user they count only while they are in page tables.
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
  for (const listed of await members.list()) {
    const { folder } = withMemory(listed)
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
