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
  const fields = await statusOf(pid)
  return fields === undefined || isOver(fields) ? undefined : fields[startTime]
}

const [state, flags, startTime] = [0, 6, 19]
const kernelThread = 0x200000

/** The fields of /proc/PID/stat after the name, which stands in brackets and may hold anything. */
async function statusOf(pid: number): Promise<string[] | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return line?.slice(line.lastIndexOf(')') + 2).split(' ')
}

const isOver = (fields: string[]) => fields[state] === 'Z' || fields[state] === 'X'

/**
 * Ends every process whose environment holds the entry: for builds without a sandbox, whose children may leave their
 * group. `since` is the start of the first of them. One that also clears its environment is not found; only a sandbox
 * holds that one.
 */
export async function endMarked(entry: string, since: string | undefined): Promise<void> {
  // One look is not enough: a process may have forked and gone between the list of processes and the look at it.
  for (let round = 0, clean = 0; round < 100 && clean < 2; round++) {
    const { pids, unclear } = await marked(entry, Number(since ?? 0))
    for (const pid of pids) endProcess(pid)
    clean = pids.length > 0 || unclear ? 0 : clean + 1
    if (clean < 2) await delay(step)
  }
}

async function marked(entry: string, since: number): Promise<{ pids: number[]; unclear: boolean }> {
  const pids: number[] = []
  let unclear = false
  for (const name of await readdir('/proc')) {
    const pid = Number(name)
    const environment = pid > 0 ? await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => undefined) : undefined
    if (environment === '') unclear ||= await isStarting(pid, since)
    else if (environment?.split('\0').includes(entry)) pids.push(pid)
  }
  return { pids, unclear }
}

/** Whether a process without an environment may be one that is just being replaced by its next program. */
async function isStarting(pid: number, since: number): Promise<boolean> {
  const fields = await statusOf(pid)
  if (fields === undefined || isOver(fields)) return false
  return (Number(fields[flags]) & kernelThread) === 0 && Number(fields[startTime]) >= since
}

/** Ends a process, or a group by its negative number, at once; one that is gone is no failure. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
