// Where the files of builds lie, and how they get there so that a power cut cannot take back what was acknowledged.
import { mkdir, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { config } from '../config.js'

/** One run of a build. A later claim has a higher attempt and files of its own: a stale runner cannot reach them. */
export type BuildKey = { build: number; attempt: number }

/** A thousand builds share a folder. */
export function pathOf(kind: 'traces' | 'artifacts', { build, attempt }: BuildKey, ending: string): string {
  for (const number of [build, attempt]) {
    if (!Number.isSafeInteger(number) || number < 0)
      throw new RangeError(`not a number of a build or attempt: ${number}`)
  }
  return join(config().home, kind, String(Math.floor(build / 1000)), `${build}-${attempt}.${ending}`)
}

/** Makes the folder of a file, down to the disk. */
export async function makeFolderOf(path: string): Promise<void> {
  const made = await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  if (made !== undefined) await syncFolder(dirname(made))
}

/** Brings names in a folder down to the disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Removes a file; one that is gone is no failure. */
export const removeFile = (path: string): Promise<void> => rm(path, { force: true })

/** Whether an error says that there is no such file. */
export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'
