// git processes go on to their end when the process that started them is killed.
import { readdir, readFile } from 'node:fs/promises'
import { STARTED_BY } from './environment.js'

/** Whether git processes still run that the process with this number started. Of this machine's processes only. */
export async function gitOutlives(pid: number): Promise<boolean> {
  const entry = `${STARTED_BY}=${pid}`
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    // A process that has ended, or is another user's, has none that could be read.
    const environment = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '')
    if (environment.split('\0').includes(entry)) return true
  }
  return false
}
