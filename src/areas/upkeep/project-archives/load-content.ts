// Stores the repository and the uploads of an archive under the id of a project that is still invisible.
import { config } from '../../../config.js'
import { TooLarge, Unprocessable } from '../../../errors.js'
import { GitFailure } from '../../../git/process/run.js'
import { fillFromPack, isPortable, type PackedRef } from '../../../git/repository/packs.js'
import { setHead } from '../../../git/repository/repository.js'
import { syncFileSystem } from '../../../storage/sync.js'
import { putUpload } from '../../../storage/uploads.js'
import { storeImportedArtifacts, storeImportedTrace } from '../../ci/builds/files/imported-files.js'
import { importObject } from '../../projects/lfs/kept-objects.js'
import { excessOfObject } from '../../projects/lfs/objects.js'
import { prepareProject, repositoryPath } from '../../projects/projects/repositories.js'
import { ARTIFACTS, BadProjectArchive, LFS, REFS, TRACES, UPLOADS } from './format.js'
import type { Loading } from './loading.js'
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

export async function loadUploads({ archive, project, id, options }: Content): Promise<void> {
  const uploads = archive.files(UPLOADS)
  if (project.avatar !== null && uploads.every(({ path }) => path !== project.avatar))
    throw new BadProjectArchive(`the avatar ${project.avatar} is not in the archive`)
  let done = 0
  for (const { path, size, open } of uploads) {
    options.signal.throwIfAborted()
    await stayReserved(id)
    const excess = new TooLarge(`the upload ${path} is larger than the archive states`)
    const [secret = '', name = ''] = path.split('/')
    await putUpload({ project: id, secret, name }, await open(), { limit: size, excess })
    options.progress?.('uploads', ++done, uploads.length)
  }
}

/** Stores traces and artifacts. `builds` has the ids of the builds that have them, by their numbers. */
export async function loadBuildFiles({ archive, id, options }: Content, builds: Loading['builds']): Promise<void> {
  const total = archive.manifest.traces + archive.manifest.artifacts
  let done = 0
  for (const [folder, known, store] of [
    [TRACES, builds.traces, storeImportedTrace],
    [ARTIFACTS, builds.artifacts, storeImportedArtifacts]
  ] as const) {
    const files = archive.files(folder)
    if (files.length !== known.size) throw new BadProjectArchive(`${folder} has not as many files as the builds name`)
    for (const { path, size, open } of files) {
      options.signal.throwIfAborted()
      await stayReserved(id)
      const build = known.get(Number.parseInt(path, 10))
      if (build === undefined) throw new BadProjectArchive(`${folder}${path} is of no build with such a file`)
      const excess = new TooLarge(`${folder}${path} is larger than the archive states`)
      await store(build, await open(), { limit: size, excess })
      options.progress?.('files of builds', ++done, total)
    }
  }
}

/** Stores the objects of LFS and links them. The bytes of an object are in the archive, so the importing project may have it. */
export async function loadLfs({ archive, id, options }: Content): Promise<void> {
  const files = archive.files(LFS)
  let done = 0
  for (const { path: oid, size, open } of files) {
    options.signal.throwIfAborted()
    await stayReserved(id)
    const excess = excessOfObject(size)
    if (excess !== null) throw new BadProjectArchive(`${LFS}${oid}: ${excess}`)
    await importObject(id, { oid, size }, await open()).catch(error => {
      throw error instanceof Unprocessable ? new BadProjectArchive(`${LFS}${oid}: ${error.message}`) : error
    })
    options.progress?.('LFS files', ++done, files.length)
  }
}
