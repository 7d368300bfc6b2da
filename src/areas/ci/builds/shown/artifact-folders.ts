// The files in the artifacts of a build, by folder.
import type { Readable } from 'node:stream'
import type { Actor } from '../../../../access/actor.js'
import { NothingThere, Unprocessable } from '../../../../errors.js'
import { listArchive, openArchivedFile, UnreadableArchive } from '../../../../storage/archive-contents.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import { mustFindArchived } from '../build-readings.js'
import type { BuildRow } from '../builds.queries.js'

export interface ArtifactFolder {
  readonly build: BuildRow
  /** The names of the folders inside. */
  readonly folders: readonly string[]
  readonly files: readonly { readonly name: string; readonly size: number }[]
  /** How many more entries the folder has. */
  readonly more: number
  /** How many files of the archive have names that cannot be shown. */
  readonly odd: number
  /** Why the archive cannot be listed. */
  readonly unreadable: string | null
}

/** The maximum number of entries that are shown of one folder. */
const SHOWN = 1_000

const keyOf = ({ id, artifacts_attempt }: BuildRow) => ({ build: id, attempt: artifacts_attempt ?? 0 })

/** Returns the content of a folder of the artifacts; `path` is empty or ends with a slash. Throws NothingThere. */
export async function readArtifactFolder(
  project: ProjectRow,
  id: number,
  path: string,
  actor: Actor
): Promise<ArtifactFolder> {
  const build = await mustFindArchived(project, id, actor)
  const none = { build, folders: [], files: [], more: 0, odd: 0 }
  try {
    const { files: all = null, odd = 0 } = (await listArchive(keyOf(build))) ?? {}
    const listed = all?.filter(file => file.path.startsWith(path))
    if (!listed || (listed.length === 0 && path !== '')) throw new NothingThere()
    const inside = listed.map(file => ({ ...file, path: file.path.slice(path.length) }))
    const folders = new Set(inside.flatMap(file => (file.path.includes('/') ? [file.path.split('/', 1)[0] ?? ''] : [])))
    const files = inside.filter(file => !file.path.includes('/')).map(({ path: name, size }) => ({ name, size }))
    return {
      build,
      folders: [...folders].slice(0, SHOWN),
      files: files.slice(0, Math.max(0, SHOWN - folders.size)),
      more: Math.max(0, folders.size + files.length - SHOWN),
      odd,
      unreadable: null
    }
  } catch (error) {
    if (error instanceof UnreadableArchive) return { ...none, unreadable: error.message }
    throw error
  }
}

/** Opens one file of the artifacts. Throws NothingThere and Unprocessable. */
export async function openArtifactFile(
  project: ProjectRow,
  id: number,
  path: string,
  actor: Actor
): Promise<{ readonly size: number; readonly stream: Readable }> {
  const build = await mustFindArchived(project, id, actor)
  const found = await openArchivedFile(keyOf(build), path).catch(error => {
    if (!(error instanceof UnreadableArchive)) throw error
    throw new Unprocessable(`This file of the archive cannot be opened: ${error.message}`)
  })
  if (!found) throw new NothingThere()
  return found
}
