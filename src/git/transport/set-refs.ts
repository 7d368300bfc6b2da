// Sets the refs of a push whose objects were received without `git receive-pack`.
import { RefBlocked, RefMoved, refValue, updateRef, ZERO } from '../refs/refs.js'

interface Command {
  readonly old: string
  readonly new: string
  readonly ref: string
}

/**
 * Sets all refs or none. Returns false when nothing has changed, and `git receive-pack` must receive the push. Throws when
 * git has ended in the middle and some refs have moved: recovery finds out which.
 */
export async function setRefs(repository: string, commands: readonly Command[]): Promise<boolean> {
  try {
    await updateRef(repository, [...commands])
    return true
  } catch (error) {
    // No ref has moved here. Another push, such as the same one by a client that tries again, may have set the same values.
    if (error instanceof RefMoved || error instanceof RefBlocked) return false
    for (const { ref, new: next } of commands) if (((await refValue(repository, ref)) ?? ZERO) === next) throw error
    return false
  }
}
