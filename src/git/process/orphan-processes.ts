// When a process is killed, the git processes that it started keep running until they finish.
import { readdir, readFile } from 'node:fs/promises'
import { STARTED_BY } from './environment.js'

/** Returns whether git processes that the process `pid` started are still running. It only sees the processes of this machine. */
export async function gitOutlives(pid: number): Promise<boolean> {
  const entry = `${STARTED_BY}=${pid}`
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    // A process that has ended, or belongs to another user, has no readable environment.
    const environment = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '')
    if (environment.split('\0').includes(entry)) return true
  }
  return false
}
