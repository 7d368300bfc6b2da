// Watches a running script: its memory, its first process, and that the kernel would end it before anything else.
import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism, getPriority, setPriority } from 'node:os'
import { ifThere } from '../lib/if-there.js'
import { delegatedGroup, enterGroup, type Group } from './cgroup.js'
import { isStopped, type Members } from './members.js'
import { hiddenFiles, memoryAtMost, sharedOnMachine, usedMemory } from './memory.js'
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
const SHORTEST_PAUSE = 10
/** The pause, in milliseconds, when a build would reach its limit within SOON if it grew as it did since the last look. */
const URGENT_PAUSE = 2
const SOON = 150
/** A pause is so many times as long as the look before it: usually, and when the limit is near, which does not last. */
const SHARE = 10
const URGENT_SHARE = 1
/** All processors of a machine together fill at most about this many bytes in a millisecond. */
const FILLED_IN_MS = 4_000_000 * availableParallelism()
/** The kernel ends processes with this number before all others when memory runs out. */
const FIRST_TO_END = 1000
/** Builds get the processor after everything else on the machine, as with nice 5: their share is a third then. */
const NICENESS = 5

/** Starts the watch. Returns the function that ends it. */
export async function watchScript(members: Members, options: WatchOptions): Promise<() => Promise<void>> {
  const group = await groupOf(members, options)
  if (members.first !== undefined) {
    await offer(`/proc/${members.first}`)
    await yieldProcessor(members.first)
  }
  const hidden = watchHidden(members, options)
  const stopLooking = watchMemory(members, options, hidden)
  const files = repeat(async () => {
    for (const folder of await members.list()) await offer(folder)
    await hidden.look()
    return LONGEST_PAUSE
  })
  return async () => {
    await Promise.all([stopLooking(), files()])
    if (await group?.ranOut()) options.onMemory()
    await group?.remove()
  }
}

interface Hidden {
  /** Bytes in memory that only descriptors and mappings know. */
  memory(): number
  /** How much more memory all programs of the machine share since `memory` was counted: the build may have taken it. */
  since(): number
  look(): Promise<void>
}

function watchHidden(members: Members, { device, onHidden }: WatchOptions): Hidden {
  let before = sharedOnMachine()
  let memory = 0
  return {
    memory: () => memory,
    since: () => Math.max(0, sharedOnMachine() - before),
    look: async () => {
      const now = sharedOnMachine()
      const found = await hiddenFiles(members, device)
      before = now
      memory = found.memory
      onHidden(found.disk)
    }
  }
}

/**
 * Looks at the memory of the script, sooner when it grows and the more so the nearer it is to the limit. No process runs
 * while one that seems to be above the limit is counted: that takes the kernel so long that a build of many processes
 * would meanwhile fill the machine. Without a cgroup, a build gets as far above its limit as the machine fills until the
 * next look.
 */
function watchMemory(members: Members, { memory: limit, onMemory, onStopped }: WatchOptions, hidden: Hidden) {
  /** What the last sum had too much, because it counted shared pages several times. */
  let excess = 0
  let before = { used: 0, at: performance.now() }
  const count = async () => {
    const atMost = await memoryAtMost(members, hidden.memory())
    const used = await usedMemory(members, hidden.memory())
    excess = Math.max(0, atMost - used)
    return used
  }
  const countFrozen = async () => {
    const thaw = await members.freeze()
    let isOver = false
    try {
      await hidden.look()
      const used = await count()
      isOver = used > limit
      return used
    } finally {
      // A build above its limit ends, and its processes need not run for that.
      if (!isOver) thaw()
    }
  }
  return repeat(async () => {
    const begun = performance.now()
    if (members.first !== undefined && isStopped(members.first)) onStopped()
    const atMost = await memoryAtMost(members, hidden.memory() + hidden.since())
    let used = atMost
    if (atMost - excess > limit) used = await countFrozen()
    else if (atMost > limit) {
      used = await count()
      // Processes that ran meanwhile may have counted twice.
      if (used > limit) used = await countFrozen()
    }
    if (used > limit) onMemory()
    const now = performance.now()
    const growth = (used - before.used) / (now - before.at)
    before = { used, at: now }
    if (growth * SOON > limit - used) return URGENT_PAUSE
    return Math.min(LONGEST_PAUSE, Math.max(SHORTEST_PAUSE, (now - begun) * SHARE, (limit - used) / FILLED_IN_MS))
  }, URGENT_SHARE)
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

/**
 * Has builds wait for the appliance where both want the processor, so that the watch is never late. The kernel may count
 * the sandbox, which is a session of its own, as one group with a priority of its own.
 */
async function yieldProcessor(pid: number): Promise<void> {
  ifThere(() => setPriority(pid, Math.max(NICENESS, getPriority())))
  await writeFile(`/proc/${pid}/autogroup`, String(NICENESS)).catch(() => undefined)
}
