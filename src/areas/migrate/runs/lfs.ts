// The files in LFS of a project of the source. Each is stored as soon as it has come, and noted in the folder of the project, so that a
// run that was killed does not fetch it again. Links make them files of the project before it is visible.
import { appendFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type LfsKey, putLfsObject, sizeOfLfsObject } from '../../../storage/lfs.js'
import { lfsServerOf } from '../../projects/imports/lfs/client.js'
import { fetchObjects } from '../../projects/imports/lfs/fetch.js'
import { namedServer } from '../../projects/imports/lfs/named-server.js'
import { objectsNamed } from '../../projects/imports/lfs/pointers.js'
import { claim } from '../../projects/lfs/objects.js'
import type { SourceProject } from '../sources/source.js'
import type { Collected } from './collect.js'
import { placeOfRepository, type Repository } from './repository.js'
import type { Part, Session } from './session.js'
import { readLines } from './spool.js'
import { readJson, writeJson } from './work-folder.js'

interface Named {
  readonly hash: string
  readonly keys: readonly LfsKey[]
}

/** Returns the files in LFS that the repository names. The search is kept until the repository changes. */
export async function namedFiles(
  { signal }: Session,
  { folder }: Part,
  { path, hash, refs }: Repository
): Promise<readonly LfsKey[]> {
  const file = join(folder, 'lfs.json')
  const known = await readJson<Named>(file)
  if (known?.hash === hash) return known.keys
  const keys = await objectsNamed(path, { tips: refs.map(({ id }) => id) }, signal)
  await writeJson(file, { hash, keys } satisfies Named)
  return keys
}

interface Bringing extends Pick<Collected, 'skips'> {
  readonly project: SourceProject
  readonly repository: Repository
  readonly keys: readonly LfsKey[]
}

/** Gets the files that have not come yet. Returns those that are here. Throws SourceFailure when the source breaks off. */
export async function bringFiles(
  session: Session,
  { folder }: Part,
  { project, repository: { path, branch, refs }, skips, keys }: Bringing
): Promise<readonly LfsKey[]> {
  if (keys.length === 0) return []
  const { signal, progress } = session
  const note = join(folder, 'lfs-here')
  const here = await hereOf(note, keys)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const own = lfsServerOf(placeOfRepository(session, project))
  const head = refs.find(({ ref }) => ref === `refs/heads/${branch}`)?.id
  await fetchObjects({
    server: (await namedServer(path, head, own)) ?? own,
    keys: keys.filter(key => !here.has(key)),
    held: [...here].reduce((sum, { size }) => sum + size, 0),
    signal,
    store: async (key, stream) => {
      await putLfsObject(key, stream, () => claim(key))
      await appendFile(note, `${key.oid}\n`, { mode: 0o600 })
      here.add(key)
    },
    leave: why => skips.skipped('files in LFS', why),
    progress: () => progress(`files in LFS of ${project.path}`, here.size, keys.length)
  })
  return [...here]
}

/** The files that an earlier run has brought, and that nobody removes from now on. */
async function hereOf(note: string, keys: readonly LfsKey[]): Promise<Set<LfsKey>> {
  const noted = new Set<string>()
  for await (const line of readLines(note)) noted.add(line)
  const here = new Set<LfsKey>()
  for (const key of keys) {
    if (!noted.has(key.oid)) continue
    await claim(key)
    if ((await sizeOfLfsObject(key.oid)) === key.size) here.add(key)
  }
  return here
}
