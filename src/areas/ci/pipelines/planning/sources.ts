// The files of other projects that a CI file includes: on this machine, or on the one that owns their storage.
import { setTimeout as sleep } from 'node:timers/promises'
import { OwnerAway, type RepositoryElsewhere, withElsewhere } from '../../../../cluster/repository-elsewhere.js'
import { holds } from '../../../../cluster/storages.js'
import { Unavailable } from '../../../../errors.js'
import { readCommitText } from '../../../../git/objects/commit-text.js'
import { parsePackedRefs } from '../../../../git/refs/files.js'
import { listIntactRefs, resolveCommit } from '../../../../git/refs/refs.js'
import { repositoryPath, type StoredProject } from '../../../projects/projects/repositories.js'
import { listCommitFiles, MOST_FILES, requireFew } from './commit-files.js'

/** Milliseconds. A shared storage has another owner by then. */
const PATIENCE_MS = 20_000
const PAUSE_MS = 500

export const TAGS = 'refs/tags/'

/** The machine of an included file does not answer: the pipeline fails, as the file may be away for long. */
export class IncludeAway extends Error {}

/** Returns the id of the commit that a name from a user means; null without one. */
export const commitOf = (project: StoredProject, name: string): Promise<string | null> =>
  ask(project, {
    here: async path => (await resolveCommit(path, name))?.id ?? null,
    there: async owner => (await owner.text({ want: 'commit', name })) || null
  })

/** Returns the names of all tags, and of those whose objects are lost. Only this machine knows the lost ones of its own storages. */
export const tagsOf = (
  project: StoredProject
): Promise<{ readonly names: readonly string[]; readonly lost: readonly string[] }> =>
  ask(project, {
    here: async path => {
      const { refs, lost } = await listIntactRefs(path, TAGS)
      return { names: [...refs.map(({ name }) => name), ...lost], lost }
    },
    there: async owner => {
      const refs = parsePackedRefs((await owner.whole({ want: 'refs' }))?.toString('latin1') ?? '')
      return { names: [...refs.keys()].filter(name => name.startsWith(TAGS)), lost: [] }
    }
  })

/** Returns the text of a file; null when it does not exist or exceeds the limit of CI files. */
export const textOf = (project: StoredProject, commit: string, file: string): Promise<string | null> =>
  ask(project, {
    here: path => readCommitText(path, commit, file),
    there: async owner => (await owner.whole({ want: 'text', commit, path: file }))?.toString() ?? null
  })

/** Returns the paths of all files. Throws TooManyFiles. */
export const pathsOf = (project: StoredProject, commit: string): Promise<string[]> =>
  ask(project, {
    here: path => listCommitFiles(path, commit),
    there: async owner => {
      const text = await owner.text({ want: 'paths', commit, most: MOST_FILES })
      return requireFew(text === '' ? [] : text.split('\0'))
    }
  })

interface Ways<T> {
  here(path: string): Promise<T>
  there(owner: RepositoryElsewhere): Promise<T>
}

/** Asks again while the storage has no owner, or gets another one. Throws IncludeAway. */
async function ask<T>(project: StoredProject, { here, there }: Ways<T>): Promise<T> {
  for (const end = performance.now() + PATIENCE_MS; ; await sleep(PAUSE_MS)) {
    if (holds(project.storage)) return here(repositoryPath(project))
    try {
      return await withElsewhere(project, there)
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      if (error instanceof OwnerAway && performance.now() < end) continue
      throw new IncludeAway(`includes a file of the storage ${project.storage}, whose machine does not answer`)
    }
  }
}
