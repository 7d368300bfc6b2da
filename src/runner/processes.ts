// Looks at processes through /proc, to be sure that those of a build are gone.
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

/** A process told apart from a later one of the same number. */
export type FirstProcess = { pid: number; startedAt: string }

const patience = 10_000
const step = 2

/** The process of that number, or undefined when it is gone already. */
export async function firstProcess(pid: number): Promise<FirstProcess | undefined> {
  const startedAt = await startOf(pid)
  return startedAt === undefined ? undefined : { pid, startedAt }
}

/**
 * Waits until the first process of a pid namespace is gone, and with it all others: it becomes a zombie only after the
 * kernel has ended them. bubblewrap itself leaves a moment before that. Throws when that takes more than ten seconds.
 */
export async function processEnded(first: FirstProcess): Promise<void> {
  for (let waited = 0; waited < patience; waited += step) {
    if ((await startOf(first.pid)) !== first.startedAt) return
    await delay(step)
  }
  throw new Error(`process ${first.pid} of a build does not end`)
}

/** When a process that is not a zombie started, in the kernel's ticks. */
async function startOf(pid: number): Promise<string | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The name, in brackets, may hold anything; the fields after it may not.
  const fields = line?.slice(line.lastIndexOf(')') + 2).split(' ')
  return fields?.[0] === 'Z' || fields?.[0] === 'X' ? undefined : fields?.[19]
}

/**
 * Ends every process whose environment holds the entry: for builds without a sandbox, whose children may leave their
 * group. One that also clears its environment is not found; only a sandbox holds that one.
 */
export async function endMarked(entry: string): Promise<void> {
  for (let round = 0; round < 100; round++) {
    const pids = await marked(entry)
    if (pids.length === 0) return
    for (const pid of pids) endProcess(pid)
    await delay(step)
  }
}

async function marked(entry: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  const found: number[] = []
  for (const pid of pids) {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
    if (environment.split('\0').includes(entry)) found.push(Number(pid))
  }
  return found
}

/** Ends a process, or a group by its negative number, at once; one that is gone is no failure. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
