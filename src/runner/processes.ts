// Reads /proc to make sure that all processes of a build are gone.
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { processEnded, processStatus, startOf } from '../lib/process-status.js'

/** A process, with its start time to distinguish it from a later process with the same number. */
export interface FirstProcess {
  readonly pid: number
  readonly startedAt: number
}

const PATIENCE = 10_000
const STEP = 2

/** Returns the process with this number, or undefined when it has already gone. */
export function firstProcess(pid: number): FirstProcess | undefined {
  const startedAt = startOf(pid)
  return startedAt === null ? undefined : { pid, startedAt }
}

/**
 * Waits until the first process of a pid namespace is gone. All other processes are then gone too, because the first
 * becomes a zombie only after the kernel has ended the others. bubblewrap itself ends a moment before that. Throws when
 * the wait takes more than ten seconds.
 */
export async function firstEnded({ pid, startedAt }: FirstProcess): Promise<void> {
  if (!(await processEnded(pid, startedAt, PATIENCE))) throw new Error(`process ${pid} of a build did not end`)
}

/**
 * Ends every process whose environment contains `entry`. It is for builds without a sandbox, whose children may leave
 * their process group. `since` is the start time of the first of them. A process that also clears its environment is
 * not found; only a sandbox stops such a process.
 */
export async function endMarked(entry: string, since: number | undefined): Promise<void> {
  // One pass is not enough: a process may fork and end after this code reads the list of processes and before it reaches that
  // process.
  for (let round = 0, clean = 0; round < 100 && clean < 2; round++) {
    const { pids, unclear } = await marked(entry, since ?? 0)
    for (const pid of pids) endProcess(pid)
    clean = pids.length > 0 || unclear ? 0 : clean + 1
    if (clean < 2) await delay(STEP)
  }
}

async function marked(entry: string, since: number): Promise<{ pids: number[]; unclear: boolean }> {
  const pids: number[] = []
  let unclear = false
  for (const name of await readdir('/proc')) {
    const pid = Number(name)
    const environment = pid > 0 ? await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => undefined) : undefined
    if (environment === '') unclear ||= isStarting(pid, since)
    else if (environment?.split('\0').includes(entry)) pids.push(pid)
  }
  return { pids, unclear }
}

/** Returns true when a process without an environment may be in the middle of starting its next program. */
function isStarting(pid: number, since: number): boolean {
  const status = processStatus(pid)
  return status !== undefined && !status.isKernelThread && (startOf(pid) ?? -1) >= since
}

/** Kills a process at once, or a process group when the number is negative. A process that has already gone is not an error. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
