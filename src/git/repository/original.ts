// A repository whose files are copied while it is in use: one of this machine, or one that another machine reads out.
import { existsSync, statSync } from 'node:fs'
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { objectInfo } from '../objects/reader.js'
import { type RefFiles, readRefFiles, unreadableRefs } from '../refs/files.js'
import { objectFiles } from './object-files.js'

export interface OriginalFile {
  /** The path in the repository. */
  readonly path: string
  readonly size: number
  /** The time of its last change in milliseconds. */
  readonly modified: number
}

export interface Original {
  /** Names the repository for a person. */
  readonly name: string
  /** The folder, when it is on this machine. */
  readonly folder?: string
  isThere(): Promise<boolean>
  /** The files of objects, packs last: git moves loose objects into packs. */
  objects(): Promise<readonly OriginalFile[]>
  /** Copies a file of objects to a path that does not exist. Returns false when the file does not exist any more. */
  copy(path: string, to: string): Promise<boolean>
  /** Returns undefined for a file that does not exist. */
  text(name: 'HEAD' | 'config'): Promise<Buffer | undefined>
  refs(): Promise<RefFiles>
  /** Returns the name of a ref that cannot be read; undefined when there is none. */
  unreadableRef(): Promise<string | undefined>
  hasObject(id: string): Promise<boolean>
}

/** The files of objects as they are now. */
export function* listObjectFiles(repository: string): Generator<OriginalFile> {
  for (const path of objectFiles(repository)) {
    const found = statSync(join(repository, path), { throwIfNoEntry: false })
    // A file that git has just removed is listed: a copy does not find it, and looks again.
    yield { path, size: found?.size ?? 0, modified: found?.mtimeMs ?? 0 }
  }
}

/** The repository in a folder of this machine. */
export const originalIn = (folder: string): Original => ({
  name: folder,
  folder,
  isThere: async () => existsSync(folder),
  objects: async () => [...listObjectFiles(folder)],
  copy: (path, to) =>
    unlessMissing(async () => {
      await copyFile(join(folder, path), to)
      return true
    }, false),
  text: name => unlessMissing(() => readFile(join(folder, name)), undefined),
  refs: async () => readRefFiles(folder),
  unreadableRef: async () => unreadableRefs(folder, 'refs')[0],
  hasObject: async id => (await objectInfo(folder, id)) !== null
})

async function unlessMissing<T, M>(work: () => Promise<T>, missing: M): Promise<T | M> {
  try {
    return await work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return missing
    throw error
  }
}
