// Watches how much memory an appliance takes: the private and shared memory of all its processes, without files that are
// mapped into memory, because the system takes those back when it needs the room.
import { readdirSync, readFileSync } from 'node:fs'

const SAMPLE_MS = 20
/** MiB above the limit at which the greediest process is killed, so that a failing attack does not take the machine along. */
const CEILING = 1024

export interface Watch {
  /** Ends the watch; gives the highest sum above that of its beginning, in MiB. */
  stop(): number
}

/** Watches the processes below `pid`. */
export function watchMemory(pid: number, limit: number): Watch {
  const before = sumOf(memoryBelow(pid))
  let peak = before
  const sample = () => {
    const found = memoryBelow(pid)
    const sum = sumOf(found)
    peak = Math.max(peak, sum)
    if (sum - before > limit + CEILING) killGreediest(found)
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

function killGreediest(found: Map<number, number>): void {
  const [greediest] = [...found].sort(([, one], [, other]) => other - one)
  try {
    if (greediest) process.kill(greediest[0], 'SIGKILL')
  } catch {
    // It has just ended.
  }
}

/** The memory of every process below `root`, and of itself, in MiB by process. */
function memoryBelow(root: number): Map<number, number> {
  const parents = new Map<number, number>()
  const sizes = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const status = statusOf(name)
    const field = (key: string) => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
    parents.set(Number(name), field('PPid'))
    sizes.set(Number(name), (field('RssAnon') + field('RssShmem')) / 1024)
  }
  const isBelow = (pid: number): boolean => pid === root || (pid > 1 && isBelow(parents.get(pid) ?? 0))
  return new Map([...sizes].filter(([pid]) => isBelow(pid)))
}

function statusOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1')
  } catch {
    return ''
  }
}
