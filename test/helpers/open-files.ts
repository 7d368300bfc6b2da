// The files that this process has open. Node.js ends a process that forgets to close one.
import { readdirSync, readlinkSync } from 'node:fs'

/** Returns the paths of the open files in a folder. */
export function openFilesIn(folder: string): string[] {
  const paths = readdirSync('/proc/self/fd').map(descriptor => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`)
    } catch {
      return '' // The listing itself has been closed in the meantime.
    }
  })
  return paths.filter(path => path.startsWith(folder))
}
