// Measures the size of a folder within a time limit, because it may hold millions of files.
import type { Dirent } from 'node:fs'
import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'

/** The walk through the folder updates it. */
export interface FolderSize {
  /** The space that the files take on the disk. */
  bytes: number
  files: number
  /** False when the time limit was reached: the folder then has at least this size. */
  complete: boolean
}

/** How many files to look at in parallel. */
const ABREAST = 64

/** Adds up all files below a folder until `deadline` (in milliseconds, like Date.now()). A missing folder counts as empty. */
export async function folderSize(folder: string, deadline: number): Promise<FolderSize> {
  const size: FolderSize = { bytes: 0, files: 0, complete: true }
  const waiting = [folder]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (Date.now() > deadline) return { ...size, complete: false }
    await addFolder(next, { size, waiting, deadline })
  }
  return size
}

interface Walk {
  readonly size: FolderSize
  /** The folders that are not read yet. */
  readonly waiting: string[]
  readonly deadline: number
}

async function addFolder(folder: string, { size, waiting, deadline }: Walk): Promise<void> {
  const batch: string[] = []
  for await (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) waiting.push(path)
    else if (batch.push(path) === ABREAST) {
      await addFiles(size, batch.splice(0))
      if (Date.now() > deadline) {
        size.complete = false
        return
      }
    }
  }
  await addFiles(size, batch)
}

async function addFiles(size: FolderSize, paths: readonly string[]): Promise<void> {
  // The appliance may delete a file while we count: that is not an error.
  const found = await Promise.all(paths.map(path => lstat(path).catch(() => undefined)))
  for (const file of found) {
    if (!file) continue
    size.bytes += file.blocks * 512
    size.files += 1
  }
}

async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
