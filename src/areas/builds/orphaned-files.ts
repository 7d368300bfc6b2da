// Finds files of builds that no row refers to. A crash between writing a file and its row leaves such a file, and so
// does a removal that deletes the rows but not the files.
import { rows } from '../../db/sql.js'
import { changedAt, type StoredFile, storedFiles, storedFolders } from '../../storage/stored-files.js'

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

async function buildsOf(folder: number): Promise<Map<number, BuildRow>> {
  const found = await rows<BuildRow>(
    'select id, status, artifacts_attempt, erased_at is not null as erased from builds where id >= ? and id < ?',
    [folder * 1000, (folder + 1) * 1000]
  )
  return new Map(found.map(build => [build.id, build]))
}

/** A finished build keeps the archive of one attempt only, but the traces of all attempts. An erased one keeps nothing. */
function belongs(kind: 'traces' | 'artifacts', { attempt }: StoredFile, build: BuildRow | undefined): boolean {
  if (!build || build.erased === 1) return false
  return kind === 'traces' || build.status === 'running' || build.artifacts_attempt === attempt
}
