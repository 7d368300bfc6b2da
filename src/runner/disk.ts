// Builds may fill a disk with many files, which no limit of a process prevents, and the database may be on the same
// disk.
import { statfs } from 'node:fs/promises'

const INTERVAL = 500
const MOST_RESERVE = 536_870_912

/**
 * Returns true when less than `reserve` bytes are free. The default is a fiftieth of the disk, but at most half a GiB.
 */
export async function diskIsLow(folder: string, reserve?: number): Promise<boolean> {
  const { blocks, bavail, bsize } = await statfs(folder)
  return bavail * bsize < (reserve ?? Math.min(MOST_RESERVE, (blocks * bsize) / 50))
}

/** Checks the folder's disk twice a second, and calls `onLow` once. Returns the function that stops the checks. */
export function watchDisk(folder: string, onLow: () => void, reserve?: number): () => void {
  let watching = true
  const look = async () => {
    // The folder may be gone at the end of a build. A disk that cannot be checked does not count as full.
    if (!(await diskIsLow(folder, reserve).catch(() => false)) || !watching) return
    stop()
    onLow()
  }
  const timer = setInterval(() => void look(), INTERVAL)
  const stop = () => {
    watching = false
    clearInterval(timer)
  }
  return stop
}
