// Down to the disk, all at once: node has no syncfs, and fsync file by file takes minutes for a thousand repositories.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Settles when everything written to the file system of `folder` is on the disk. */
export async function syncFileSystem(folder: string): Promise<void> {
  await promisify(execFile)('sync', ['--file-system', '--', folder])
}
