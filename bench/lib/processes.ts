// Reads from /proc what the kernel knows about processes.
import { readdirSync, readFileSync } from 'node:fs'

const TICKS = 100

interface Stat {
  readonly parent: number
  /** Seconds of processor of the process itself. */
  readonly own: number
  /** The same, including children that have ended. */
  readonly cpu: number
}

function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15)
    return {
      parent: fields[1] ?? 0,
      own: (user + system) / TICKS,
      cpu: (user + system + childUser + childSystem) / TICKS
    }
  } catch {
    return undefined
  }
}

/** The running children of a process. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(child => statOf(child)?.parent === pid)
}

/** The command line of a process, or its new name if it has renamed itself. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return ''
  }
}

/** Seconds of processor that a process and all its descendants have used. */
export function cpuOf(pid: number): number {
  const own = statOf(pid)?.cpu ?? 0
  return childrenOf(pid).reduce((sum, child) => sum + cpuOf(child), own)
}

/** Seconds of processor of the children of a process that have ended. */
export function reapedCpuOf(pid: number): number {
  const { cpu = 0, own = 0 } = statOf(pid) ?? {}
  return cpu - own
}

/** Seconds of processor that a process has used itself. */
export const ownCpuOf = (pid: number): number => statOf(pid)?.own ?? 0

/** The resident memory of a process now, and the most that it ever had, in megabytes. Cheaper than `memoryOf`. */
export function residentOf(pid: number): { now: number; peak: number } {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'latin1')
    const megabytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1024
    return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') }
  } catch {
    return { now: 0, peak: 0 }
  }
}

/** The resident memory of a process in megabytes: in full (rss), and with shared pages counted by their share (pss). */
export function memoryOf(pid: number): { rss: number; pss: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const megabytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1024
  return { rss: megabytes('Rss'), pss: megabytes('Pss') }
}
