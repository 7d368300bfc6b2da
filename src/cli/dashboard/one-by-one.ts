// Changes many records one by one, a few at a time, and counts those that changed.
import { Conflict, Forbidden, NotFound } from '../../errors.js'

/** How many changes run at the same time. */
const AT_ONCE = 4

/**
 * Returns how many records changed. A change that fails because of its record does not count. Any other error stops the
 * work and is thrown; when some records had already changed, it is wrapped in Stopped.
 */
export async function oneByOne(ids: readonly number[], change: (id: number) => Promise<unknown>): Promise<number> {
  let changed = 0
  const faults: unknown[] = []
  const left = [...ids]
  const work = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      try {
        await change(id)
        changed += 1
      } catch (error) {
        if (isOfRecord(error)) continue
        faults.push(error)
        left.length = 0
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  if (faults.length === 0) return changed
  throw changed === 0 ? faults[0] : new Stopped(faults[0], changed)
}

const isOfRecord = (error: unknown) =>
  error instanceof NotFound || error instanceof Forbidden || error instanceof Conflict

/** The work ended early, after some records had changed. */
export class Stopped extends Error {
  constructor(
    override readonly cause: unknown,
    readonly changed: number
  ) {
    super(cause instanceof Error ? cause.message : String(cause))
  }
}
