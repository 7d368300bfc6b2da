// The objects of git LFS of an import or a pull mirror: they come before anybody sees the commits that name them.
import { TooLarge } from '../../../../errors.js'
import type { Part } from '../../../../git/history/lfs-pointers.js'
import { log } from '../../../../log.js'
import { storeObject } from '../../lfs/objects.js'
import { lfsSizeOf } from '../../lfs/sizes.js'
import type { LfsServer } from './client.js'
import { fetchObjects } from './fetch.js'
import { namedServer } from './named-server.js'
import { linked, objectsNamed } from './pointers.js'

export interface Importing {
  readonly projectId: number
  readonly repository: string
  /** The new part of the history. */
  readonly part: Part
  /** That of the repository; null when it has no LFS. */
  readonly own: LfsServer | null
  /** The commit of the default branch, whose `.lfsconfig` may name another server. */
  readonly head: string | null | undefined
  readonly signal: AbortSignal
}

/**
 * Brings the objects that the project lacks. Those that the other server does not have are left out, as it has lost them for everybody.
 * Throws TooLarge when the limits of LFS do not allow one, TooManyObjects and SourceFailure.
 */
export async function importObjects({ projectId, repository, part, own, head, signal }: Importing): Promise<void> {
  const server = await namedServer(repository, head, own)
  if (!server) return
  const named = await objectsNamed(repository, part, signal)
  const here = new Set(await linked(projectId, named))
  const keys = named.filter(key => !here.has(key))
  if (keys.length === 0) return
  const reasons = new Map<string, number>()
  await fetchObjects({
    ...{ server, keys, signal },
    held: await lfsSizeOf(projectId),
    store: (key, stream) => storeObject(projectId, key, () => stream),
    leave: (why, _, excess) => {
      if (excess) throw new TooLarge(why)
      reasons.set(why, (reasons.get(why) ?? 0) + 1)
    }
  })
  for (const [why, count] of reasons) log().warn({ project: projectId, count, why }, 'files of LFS were not imported')
}
