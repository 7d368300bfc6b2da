// The seconds that a test file takes, for `.tap/times.json`: the next run starts the slowest files first.
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'

/** The second of two lines of the file that GITSTEAD_TEST_TIMES names. `cpu` includes the processes that the file starts. */
export interface FileTime {
  readonly file: string
  readonly wall: number
  readonly cpu: number
}

/** Starts the clock, and writes the name of the file, for runs that hang. The function that it returns writes the times. */
export function startClock(file: string): () => void {
  const path = process.env.GITSTEAD_TEST_TIMES
  if (path === undefined) return () => undefined
  appendFileSync(path, `${JSON.stringify({ file })}\n`)
  const [wall, cpu] = [performance.now(), cpuSeconds(process.pid)]
  return () => {
    const time: FileTime = {
      file,
      wall: rounded((performance.now() - wall) / 1000),
      cpu: rounded(cpuSeconds(process.pid) - cpu)
    }
    appendFileSync(path, `${JSON.stringify(time)}\n`)
  }
}

const rounded = (seconds: number) => Math.round(seconds * 100) / 100

/** Ticks per second of the clock in Linux, whatever the kernel's own frequency. */
const TICKS = 100

/** The processor seconds of a process and all its descendants, except those that became detached. */
export function cpuSeconds(pid: number): number {
  const processes = new Map<number, { parent: number; ticks: number }>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      // The name of the program may have spaces and parentheses in it. The state comes after it.
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
        .map(Number)
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + field, 0)
      processes.set(Number(name), { parent: fields[1] ?? 0, ticks })
    } catch {
      // The process has ended.
    }
  }
  const isOurs = (id: number): boolean => id === pid || (processes.has(id) && isOurs(processes.get(id)?.parent ?? 0))
  let ticks = 0
  for (const [id, found] of processes) if (isOurs(id)) ticks += found.ticks
  return ticks / TICKS
}
