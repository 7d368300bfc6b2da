// Processes that sleep until a test ends them: a script can wait for the test, however long that takes.
import { readdirSync, readFileSync } from 'node:fs'
import { until } from './until.js'

/** Seconds for which no other process on this machine sleeps; years. */
export const nap = (n: number) => `9${process.pid}${n}`

/** The processes of this machine whose command line contains the text; arguments are separated by NUL. */
export function processesWith(text: string): string[] {
  return readdirSync('/proc').filter(pid => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text)
    } catch {
      return false
    }
  })
}

/** The process that sleeps for `nap(n)`, once there is one besides `others`. */
export async function sleeperOf(n: number, others: readonly string[] = []): Promise<number> {
  const found = () => processesWith(`sleep\0${nap(n)}\0`).find(pid => !others.includes(pid))
  return Number(await until(`a process sleeps for ${nap(n)}`, found))
}
