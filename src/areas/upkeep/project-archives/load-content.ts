// Stores the repository and the uploads of an archive under the id of a project that is still invisible.
import { config } from '../../../config.js'
import { TooLarge } from '../../../errors.js'
import { GitFailure } from '../../../git/process/run.js'
import { fillFromPack, isPortable, type PackedRef } from '../../../git/repository/packs.js'
import { setHead } from '../../../git/repository/repository.js'
import { syncFileSystem } from '../../../storage/sync.js'
import { putUpload } from '../../../storage/uploads.js'
import { prepareProject, repositoryPath } from '../../projects/projects/repositories.js'
import { BadProjectArchive, REFS } from './format.js'
import type { OpenArchive } from './read-archive.js'
import type { RecordOf } from './records.js'
import { stayReserved } from './staging.js'

export interface Content {
  readonly archive: OpenArchive
  readonly project: RecordOf<'project'>
  readonly id: number
  readonly storage: string
  readonly options: {
    readonly signal: AbortSignal
    readonly progress?: (what: string, done: number, total: number) => void
  }
}

/** Fills the repository in a draft next to its place, and moves it there. Returns the default branch, if it exists. */
export async function loadRepository({ archive, project, id, storage, options }: Content): Promise<string | null> {
  const refs = await readRefs(archive)
  const pack = await archive.pack()
  if ((pack === null) !== (refs.length === 0))
    throw new BadProjectArchive('the archive has refs without a pack, or a pack without refs')
  const draft = await prepareProject(storage)
  const { max_size: maxBytes, max_objects: most, timeout } = config().imports
  try {
    if (pack) {
      options.progress?.('repository', 0, 0)
      const limits = { maxBytes, timeout, signal: options.signal }
      const { objects } = await fillFromPack(draft.path, pack, refs, limits).catch(error => {
        options.signal.throwIfAborted()
        if (!(error instanceof GitFailure)) throw error
        throw new BadProjectArchive(
          `git rejects the repository: ${error.message.replace(/\p{Cc}+/gu, ' ').slice(0, 500)}`
        )
      })
      if (objects > most)
        throw new BadProjectArchive(`the repository has more than ${most} objects (imports.max_objects)`)
    }
    await stayReserved(id)
    const isThere = refs.some(({ ref }) => ref === `refs/heads/${project.default_branch}`)
    const branch = isThere ? project.default_branch : null
    if (branch !== null) await setHead(draft.path, branch)
    await syncFileSystem(draft.path)
    await draft.place(repositoryPath({ id, storage }))
    return branch
  } catch (error) {
    await draft.drop()
    throw error
  } finally {
    pack?.destroy()
  }
}

async function readRefs({ lines, manifest }: OpenArchive): Promise<readonly PackedRef[]> {
  const refs: PackedRef[] = []
  for await (const line of lines(REFS)) {
    const { ref, id } = refIn(line)
    if (typeof ref !== 'string' || typeof id !== 'string' || !isPortable(ref) || !/^[0-9a-f]{40}$/.test(id)) {
      throw new BadProjectArchive(`${REFS}: ${line.slice(0, 200)} is not a branch or tag that a project may have`)
    }
    if (refs.push({ ref, id }) > manifest.refs) break
  }
  if (refs.length !== manifest.refs) throw new BadProjectArchive('the number of refs differs from the manifest')
  return refs
}

function refIn(line: string): { readonly ref?: unknown; readonly id?: unknown } {
  try {
    return (JSON.parse(line) ?? {}) as { readonly ref?: unknown; readonly id?: unknown }
  } catch {
    throw new BadProjectArchive(`${REFS} is not JSON`)
  }
}

export async function loadUploads({ archive, id, options }: Content): Promise<void> {
  let done = 0
  for (const { secret, name, size, open } of archive.uploads()) {
    options.signal.throwIfAborted()
    await stayReserved(id)
    const excess = new TooLarge(`the upload ${secret}/${name} is larger than the archive states`)
    await putUpload({ project: id, secret, name }, await open(), { limit: size, excess })
    options.progress?.('uploads', ++done, archive.manifest.uploads)
  }
}
