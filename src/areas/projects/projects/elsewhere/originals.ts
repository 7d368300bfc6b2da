// The files of repositories that are copied: from a storage of this machine, or from the machine that owns theirs.
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { type RepositoryElsewhere, withElsewhere } from '../../../../cluster/repository-elsewhere.js'
import { holds } from '../../../../cluster/storages.js'
import { parsePackedRefs } from '../../../../git/refs/files.js'
import { isObjectFile } from '../../../../git/repository/object-files.js'
import { type Original, type OriginalFile, originalIn } from '../../../../git/repository/original.js'
import { repositoryPath, type StoredProject } from '../repositories.js'

/** Works with the files of a project's repository. Throws Unavailable when the machine that owns them does not answer. */
export function withOriginal<T>(
  project: StoredProject,
  work: (original: Original) => Promise<T>,
  signal?: AbortSignal
): Promise<T> {
  if (holds(project.storage)) return work(originalIn(repositoryPath(project)))
  return withElsewhere(project, repository => work(originalAt(repository)), signal)
}

function originalAt(repository: RepositoryElsewhere): Original {
  const { id, storage } = repository.project
  return {
    name: `project ${id} in the storage ${storage}`,
    isThere: async () => (await repository.text({ want: 'existence' })) !== '',
    objects: async () => (await repository.text({ want: 'objects' })).split('\n').filter(Boolean).map(readFile),
    copy: (path, to) => copyTo(repository, path, to),
    text: name => repository.whole({ want: 'file', path: name }),
    refs: async () =>
      parsePackedRefs(((await repository.whole({ want: 'refs' })) ?? Buffer.alloc(0)).toString('latin1')),
    unreadableRef: async () => (await repository.text({ want: 'unreadable ref' })) || undefined,
    hasObject: async id => (await repository.text({ want: 'object', id })) !== ''
  }
}

function readFile(line: string): OriginalFile {
  const { path, size, modified } = JSON.parse(line) as OriginalFile
  if (!isObjectFile(path) || !(size >= 0) || !(modified >= 0)) throw new TypeError('not a file of objects')
  return { path, size, modified }
}

async function copyTo(repository: RepositoryElsewhere, path: string, to: string): Promise<boolean> {
  const file = createWriteStream(to, { flags: 'wx', mode: 0o600 })
  // Its errors reach the writes, and the end.
  file.on('error', () => undefined)
  const write = (piece: Buffer) =>
    new Promise<void>((resolve, reject) => file.write(piece, error => (error ? reject(error) : resolve())))
  try {
    const isThere = await repository.read({ want: 'file', path }, write)
    await new Promise<void>((resolve, reject) =>
      file.end((error?: Error | null) => (error ? reject(error) : resolve()))
    )
    if (!isThere) await rm(to, { force: true })
    return isThere
  } catch (error) {
    file.destroy()
    throw error
  }
}
