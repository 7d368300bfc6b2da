// Watches how much memory an appliance uses: the private and shared memory of all its processes, without files that are mapped
// into memory, because the system reclaims those when it needs the space. Pages that several processes share count once: a
// forked child that has not yet started its program shows all of its parent's memory as its own.
import { readdirSync, readFileSync } from 'node:fs'

const SAMPLE_MS = 20
/** MiB above the limit at which the largest process is killed, so that a failing attack does not bring the machine down. */
const CEILING = 1024

export interface Watch {
  /** Ends the watch; returns the highest sum above the sum at the beginning, in MiB. */
  stop(): number
}

/** Watches the processes below `pid`. */
export function watchMemory(pid: number, limit: number): Watch {
  const before = sharedOnce(memoryBelow(pid))
  let peak = before
  const sample = () => {
    const found = memoryBelow(pid)
    const most = sumOf(found)
    if (most <= peak) return
    peak = Math.max(peak, sharedOnce(found))
    if (most - before > limit + CEILING) killGreediest(found)
  }
  const timer = setInterval(sample, SAMPLE_MS)
  return {
    stop: () => {
      clearInterval(timer)
      sample()
      return Math.round(peak - before)
    }
  }
}

const sumOf = (found: Map<number, number>) => [...found.values()].reduce((sum, size) => sum + size, 0)

/** The same sum, with shared pages counted once. It takes the system far longer, so it is only computed where it matters. */
function sharedOnce(found: Map<number, number>): number {
  let sum = 0
  for (const [pid, most] of found) {
    const rollup = read(`/proc/${pid}/smaps_rollup`)
    // The text is empty for a process that has ended, or that belongs to another user.
    sum += rollup === '' ? most : (fieldOf(rollup, 'Pss_Anon') + fieldOf(rollup, 'Pss_Shmem')) / 1024
  }
  return sum
}

function killGreediest(found: Map<number, number>): void {
  const [greediest] = [...found].sort(([, one], [, other]) => other - one)
  try {
    if (greediest) process.kill(greediest[0], 'SIGKILL')
  } catch {
    // It has just ended.
  }
}

/** The memory of `root` and every process below it, in MiB by process. */
function memoryBelow(root: number): Map<number, number> {
  const parents = new Map<number, number>()
  const sizes = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const status = read(`/proc/${name}/status`)
    parents.set(Number(name), fieldOf(status, 'PPid'))
    sizes.set(Number(name), (fieldOf(status, 'RssAnon') + fieldOf(status, 'RssShmem')) / 1024)
  }
  const isBelow = (pid: number): boolean => pid === root || (pid > 1 && isBelow(parents.get(pid) ?? 0))
  return new Map([...sizes].filter(([pid]) => isBelow(pid)))
}

const fieldOf = (text: string, key: string) => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0)

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
