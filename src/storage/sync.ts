// Writes everything to the disk at once. Node has no syncfs, and an fsync of each file takes minutes for a thousand repositories.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Resolves when everything that was written to the file system of `folder` is on the disk. */
export async function syncFileSystem(folder: string): Promise<void> {
  await promisify(execFile)('sync', ['--file-system', '--', folder])
}
