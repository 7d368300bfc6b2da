// Builds may fill a disk by many files, which no limit of a process prevents; the database may lie on the same one.
import { statfs } from 'node:fs/promises'

const interval = 500
const mostReserve = 536_870_912

/** Whether less is free than `reserve` bytes: a fiftieth of the disk, or half a GiB where that is less. */
export async function diskIsLow(folder: string, reserve?: number): Promise<boolean> {
  const { blocks, bavail, bsize } = await statfs(folder)
  return bavail * bsize < (reserve ?? Math.min(mostReserve, (blocks * bsize) / 50))
}

/** Looks at the folder's disk twice a second, and calls `onLow` once. Gives the function that ends this. */
export function watchDisk(folder: string, onLow: () => void, reserve?: number): () => void {
  let watching = true
  const look = async () => {
    // The folder may be gone at the end of a build, and a disk that cannot be asked is not full.
    if (!(await diskIsLow(folder, reserve).catch(() => false)) || !watching) return
    stop()
    onLow()
  }
  const timer = setInterval(() => void look(), interval)
  const stop = () => {
    watching = false
    clearInterval(timer)
  }
  return stop
}
