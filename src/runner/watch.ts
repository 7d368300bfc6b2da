// Watches a running script: its memory, its first process, and that the kernel would end it before anything else.
import { readFile, writeFile } from 'node:fs/promises'
import { delegatedGroup, enterGroup, type Group } from './cgroup.js'
import type { Members } from './members.js'
import { hiddenFiles, usedMemory } from './memory.js'
import { repeat } from './repeat.js'

export interface WatchOptions {
  /** Bytes of memory that the script's processes may use together. */
  readonly memory: number
  /** How many processes and threads the script may have. */
  readonly processes: number
  /** The number of the disk that the build's folders are on. */
  readonly device: number
  readonly onMemory: () => void
  /** Called when the first process of the sandbox was stopped, so that it could not end with the script. */
  readonly onStopped: () => void
  /** Gets the bytes on the disk of removed files that the processes hold open. */
  readonly onHidden: (bytes: number) => void
}

/** The first process of the sandbox, and room for the moment in which one follows another. */
const PROCESSES_OF_RUNNER = 8
const LONGEST_PAUSE = 250
const SHORTEST_PAUSE = 20
/** A machine fills at most about this many bytes in a millisecond. */
const FILLED_IN_MS = 4_000_000
/** The kernel ends processes with this number before all others when memory runs out. */
const FIRST_TO_END = 1000

/** Starts the watch. Returns the function that ends it. */
export async function watchScript(members: Members, options: WatchOptions): Promise<() => Promise<void>> {
  const group = await groupOf(members, options)
  if (members.first !== undefined) await offer(`/proc/${members.first}`)
  let hidden = 0
  const memory = repeat(async () => {
    if (await isStopped(members)) options.onStopped()
    const used = await usedMemory(members, hidden, options.memory)
    if (used > options.memory) options.onMemory()
    return Math.min(LONGEST_PAUSE, Math.max(SHORTEST_PAUSE, (options.memory - used) / FILLED_IN_MS))
  })
  const files = repeat(async () => {
    for (const folder of await members.list()) await offer(folder)
    const found = await hiddenFiles(members, options.device)
    hidden = found.memory
    options.onHidden(found.disk)
    return LONGEST_PAUSE
  })
  return async () => {
    await Promise.all([memory(), files()])
    if (await group?.ranOut()) options.onMemory()
    await group?.remove()
  }
}

async function groupOf({ first }: Members, { memory, processes }: WatchOptions): Promise<Group | undefined> {
  const parent = first === undefined ? undefined : await delegatedGroup()
  if (first === undefined || parent === undefined) return undefined
  return enterGroup(parent, first, { memory, processes: processes + PROCESSES_OF_RUNNER })
}

/**
 * Has the kernel end this process first when memory runs out. A script may set the number of its own processes back,
 * unless root has set it, so this is repeated.
 */
async function offer(folder: string): Promise<void> {
  const path = `${folder}/oom_score_adj`
  const now = await readFile(path, 'latin1').catch(() => undefined)
  if (now === undefined || Number(now) === FIRST_TO_END) return
  await writeFile(path, String(FIRST_TO_END)).catch(() => undefined)
}

async function isStopped({ first }: Members): Promise<boolean> {
  if (first === undefined) return false
  const line = await readFile(`/proc/${first}/stat`, 'latin1').catch(() => '')
  return /^[Tt]$/.test(line.slice(line.lastIndexOf(')') + 2, line.lastIndexOf(')') + 3))
}
