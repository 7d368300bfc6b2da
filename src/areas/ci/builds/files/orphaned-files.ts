// Finds files of builds that no row refers to. A crash between writing a file and its row leaves such a file, and so
// does a removal that deletes the rows but not the files.
import { marks, rows } from '../../../../db/connect/sql.js'
import type { BuildKey } from '../../../../storage/files.js'
import { hasBucket } from '../../../../storage/places.js'
import { changedAt, keptObjects, storedFiles, storedFolders } from '../../../../storage/stored-files.js'

export interface Orphans {
  /** Paths of files that no row refers to and that last changed before the given time. */
  readonly paths: readonly string[]
  /** The number of files that were checked. */
  readonly looked: number
}

interface BuildRow {
  readonly id: number
  readonly status: string
  readonly artifacts_attempt: number | null
  readonly erased: number
}

/** Finds orphaned files of a kind, in at most `folders` folders. `before` is in milliseconds since 1970. */
export async function orphanedBuildFiles(
  kind: 'traces' | 'artifacts',
  before: number,
  folders = Number.POSITIVE_INFINITY
): Promise<Orphans> {
  const paths: string[] = []
  let looked = 0
  for (const folder of (await storedFolders(kind)).slice(0, folders)) {
    const files = await storedFiles(kind, folder)
    looked += files.length
    const known = await buildsOf(folder)
    for (const file of files) {
      if (belongs(kind, file, known.get(file.build))) continue
      const changed = await changedAt(file.path)
      if (changed !== null && changed < before) paths.push(file.path)
    }
  }
  return { paths, looked }
}

/** Finds objects in the bucket that no row refers to, as `orphanedBuildFiles` finds files. `paths` has their names. */
export async function orphanedObjects(kind: 'traces' | 'artifacts', before: number): Promise<Orphans> {
  const paths: string[] = []
  let looked = 0
  if (!hasBucket()) return { paths, looked }
  for await (const page of keptObjects(kind)) {
    looked += page.length
    const known = await buildsWith(page.map(({ build }) => build))
    paths.push(
      ...page
        .filter(object => object.changed < before && !belongs(kind, object, known.get(object.build)))
        .map(({ name }) => name)
    )
  }
  return { paths, looked }
}

const COLUMNS = 'id, status, artifacts_attempt, erased_at is not null as erased'
const byId = (found: readonly BuildRow[]) => new Map(found.map(build => [build.id, build]))

const buildsOf = async (folder: number): Promise<Map<number, BuildRow>> =>
  byId(
    await rows<BuildRow>(`select ${COLUMNS} from builds where id >= ? and id < ?`, [folder * 1000, (folder + 1) * 1000])
  )

const buildsWith = async (ids: readonly number[]): Promise<Map<number, BuildRow>> =>
  ids.length === 0
    ? new Map()
    : byId(await rows<BuildRow>(`select ${COLUMNS} from builds where id in (${marks(ids)})`, [...ids]))

/** A finished build keeps the archive of only one attempt, but the traces of all attempts. An erased build keeps nothing. */
function belongs(kind: 'traces' | 'artifacts', { attempt }: BuildKey, build: BuildRow | undefined): boolean {
  if (!build || build.erased === 1) return false
  return kind === 'traces' || build.status === 'running' || build.artifacts_attempt === attempt
}
