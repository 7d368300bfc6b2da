// Reads the status of a process from /proc/PID/stat of Linux.
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

export interface ProcessStatus {
  /** A letter, such as R for running, T for stopped and Z for a zombie, which no longer runs anything. */
  readonly state: string
  readonly isKernelThread: boolean
  /** User and system time so far. */
  readonly processorSeconds: number
  /** When it started, in clock ticks since boot. It distinguishes a process from a later one with the same number. */
  readonly startedAt: number
}

/** The number of ticks per second: Linux reports this unit to programs on every machine. */
export const TICKS = 100
const KERNEL_THREAD = 0x200000
const STEP = 2

/** Returns the result of `read`, or undefined when it throws: files of /proc vanish with their process, at any moment. */
export function ifAlive<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Returns the status of a process, or undefined when it does not exist. */
export function processStatus(pid: number): ProcessStatus | undefined {
  const line = ifAlive(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  if (line === undefined) return undefined
  // The name is in brackets and may contain any character.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return {
    state: fields[0] ?? '',
    isKernelThread: (Number(fields[6]) & KERNEL_THREAD) !== 0,
    processorSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS,
    startedAt: Number(fields[19])
  }
}

/** Returns when a process started, in clock ticks since boot, or null when it is gone or a zombie. */
export function startOf(pid: number): number | null {
  const status = processStatus(pid)
  return status === undefined || /[ZX]/.test(status.state) ? null : status.startedAt
}

/**
 * Waits until the process with this pid and start time has ended or is a zombie. Returns false when it is still running
 * after `patience` milliseconds.
 */
export async function processEnded(pid: number, startedAt: number, patience: number): Promise<boolean> {
  for (let waited = 0; waited < patience; waited += STEP) {
    if (startOf(pid) !== startedAt) return true
    await delay(STEP)
  }
  return false
}
