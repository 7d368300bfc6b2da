// The objects of git LFS that a repository from another server names.
import { Failure } from '../../../../errors.js'
import { findPointers, type Part } from '../../../../git/history/lfs-pointers.js'
import { batches } from '../../../../lib/batches.js'
import type { LfsKey } from '../../../../storage/lfs.js'
import { findLinks } from '../../lfs/objects.js'

/** As many as an archive may have. They are kept in memory. */
const MOST_OBJECTS = 100_000

/** The history names more objects than anybody may bring. */
export class TooManyObjects extends Failure {}

/** Returns the objects that a part of a history names. Throws TooManyObjects. */
export async function objectsNamed(repository: string, part: Part, signal: AbortSignal): Promise<LfsKey[]> {
  const sizes = new Map<string, number>()
  const [ending, own] = [new AbortController(), signal]
  const both = AbortSignal.any([own, ending.signal])
  const excess = new TooManyObjects(`the repository names more than ${MOST_OBJECTS} files in LFS`)
  try {
    await findPointers(repository, part, both, (oid, size) => {
      // Pointers that name two sizes for one content are wrong; the server has only one of them.
      if (size !== undefined && !sizes.has(oid)) sizes.set(oid, size)
      if (sizes.size > MOST_OBJECTS) ending.abort(excess)
    })
  } catch (error) {
    own.throwIfAborted()
    throw ending.signal.aborted ? excess : error
  }
  if (ending.signal.aborted) throw excess
  return [...sizes].map(([oid, size]) => ({ oid, size }))
}

/** Returns those objects that a project has. */
export async function linked(projectId: number, keys: readonly LfsKey[]): Promise<LfsKey[]> {
  const found: LfsKey[] = []
  for (const some of batches(keys, 500)) {
    const links = await findLinks(
      projectId,
      some.map(({ oid }) => oid)
    )
    found.push(...some.filter(({ oid, size }) => links.get(oid) === size))
  }
  return found
}
