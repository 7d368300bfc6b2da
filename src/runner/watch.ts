// Watches a running script: its memory, its first process, and that the kernel would end it before anything else.
import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism, getPriority, setPriority } from 'node:os'
import { ifAlive } from '../lib/process-status.js'
import { delegatedGroup, enterGroup, type Group } from './cgroup.js'
import { isStopped, type Members } from './members.js'
import { hiddenFiles, memoryAtMost, sharedOnMachine, usedMemory } from './memory.js'
import { poll } from './poll.js'

export interface WatchOptions {
  /** Bytes of memory that the script's processes may use together. */
  readonly memory: number
  /** How many processes and threads the script may have. */
  readonly processes: number
  /** The device number of the disk with the build's folders. */
  readonly device: number
  readonly onMemory: () => void
  /** Called when the first process of the sandbox was stopped, so that it could not end with the script. */
  readonly onStopped: () => void
  /** Gets the bytes on the disk of removed files that the processes hold open. */
  readonly onHidden: (bytes: number) => void
}

/** Allows for the first process of the sandbox, and for the moment in which one process follows another. */
const PROCESSES_OF_RUNNER = 8
const LONGEST_PAUSE = 250
const SHORTEST_PAUSE = 10
/** The pause, in milliseconds, when a build would reach its limit within SOON at its growth since the last check. */
const URGENT_PAUSE = 2
const SOON = 150
/** A pause is this many times as long as the check before it: usually, and when the limit is near, which does not last. */
const SHARE = 10
const URGENT_SHARE = 1
/** All processors of a machine together fill at most about this many bytes in a millisecond. */
const FILLED_IN_MS = 4_000_000 * availableParallelism()
/** The kernel ends processes with this number before all others when memory runs out. */
const FIRST_TO_END = 1000
/** Builds get the processor after everything else on the machine, as with nice 5: they then get a third. */
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
  const files = poll(async () => {
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
  /** Bytes in memory that only descriptors and mappings show. */
  memory(): number
  /** How much the shared memory of the whole machine has grown since `memory` was counted: the build may have taken it. */
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
 * Checks the memory of the script, more often when it grows and when it is nearer to the limit. While it counts a build that seems
 * to be above the limit, no process of the build runs: that count takes the kernel so long that a build of many processes would
 * fill the machine in that time. Without a cgroup, a build gets as far above its limit as it can fill until the next check.
 */
function watchMemory(members: Members, { memory: limit, onMemory, onStopped }: WatchOptions, hidden: Hidden) {
  /** The excess of the last sum, because it counted shared pages several times. */
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
  return poll(async () => {
    const begun = performance.now()
    if (members.first !== undefined && isStopped(members.first)) onStopped()
    const atMost = await memoryAtMost(members, hidden.memory() + hidden.since())
    let used = atMost
    if (atMost - excess > limit) used = await countFrozen()
    else if (atMost > limit) {
      used = await count()
      // Processes that ran during the count may have counted twice.
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
 * Makes the kernel end this process first when memory runs out. A script may reset the number of its own processes, unless root
 * has set it, so this is repeated.
 */
async function offer(folder: string): Promise<void> {
  const path = `${folder}/oom_score_adj`
  const now = await readFile(path, 'latin1').catch(() => undefined)
  if (now === undefined || Number(now) === FIRST_TO_END) return
  await writeFile(path, String(FIRST_TO_END)).catch(() => undefined)
}

/**
 * Gives the appliance priority over builds when both want the processor, so that the watch is never late. The kernel may treat the
 * sandbox, which is a separate session, as one group with its own priority.
 */
async function yieldProcessor(pid: number): Promise<void> {
  ifAlive(() => setPriority(pid, Math.max(NICENESS, getPriority())))
  await writeFile(`/proc/${pid}/autogroup`, String(NICENESS)).catch(() => undefined)
}
