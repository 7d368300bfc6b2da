// Finds the commits that one commit has and another one lacks, as `git rev-list AFTER ^BEFORE` does, where the two histories
// meet after a few commits. Most pushes bring few commits, and most branches began a short time ago.
import { readCommit } from '../objects/objects.js'

/** The maximum number of commits that are read: a few milliseconds of work. Beyond that, git is faster. */
const MOST_READ = 200
/** Of a commit with very many parents, only some are known. */
const MOST_PARENTS = 16
/** Commits of the other history that are read after the end, as git does: one with a wrong date may lead to a commit that was taken. */
const SLOP = 5

interface Met {
  readonly id: string
  readonly date: number
  readonly parentIds: readonly string[]
}

/**
 * Returns the ids in the order of git: newest first, and of equally new commits the one that was met first. `before` is
 * null for the whole history. Returns undefined when the caller must ask git: for distant commits, and for commits that are
 * older than their parents, so that dates do not show where to stop.
 */
export async function nearRange(
  repository: string,
  before: string | null,
  after: string
): Promise<string[] | undefined> {
  const met = new Map<string, Met>()
  const open: Met[] = []
  /** The commits that the other history has. */
  const known = new Set<Met>()
  const meet = async (id: string, isKnown: boolean, youngest = Number.POSITIVE_INFINITY): Promise<boolean> => {
    const already = met.get(id)
    if (already) {
      if (isKnown) spread(met, already, known)
      return already.date <= youngest
    }
    const commit = met.size < MOST_READ ? await readCommit(repository, id) : null
    if (!commit || commit.parentIds.length > MOST_PARENTS) return false
    const date = commit.committedDate.getTime()
    const one = { id, date, parentIds: commit.parentIds }
    if (isKnown) known.add(one)
    met.set(id, one)
    // After all that are as new: the list stays in the order in which they are taken.
    const place = open.findIndex(other => other.date < date)
    open.splice(place === -1 ? open.length : place, 0, one)
    return date <= youngest
  }
  if (!(await meet(after, false)) || (before !== null && !(await meet(before, true)))) return undefined
  const taken: Met[] = []
  let oldest = Number.POSITIVE_INFINITY
  for (let slop = SLOP; open.length > 0; ) {
    // While one of them is as new as a commit that was taken, it may still turn out that the other history has that commit.
    if (open.some(one => !known.has(one) || one.date >= oldest)) slop = SLOP
    else if (isLine(taken, before) || slop-- === 0) break
    const next = open.shift() as Met
    if (!known.has(next)) {
      taken.push(next)
      oldest = next.date
    }
    for (const parent of next.parentIds) if (!(await meet(parent, known.has(next), next.date))) return undefined
  }
  return taken.flatMap(one => (known.has(one) ? [] : [one.id]))
}

/** Returns whether each of the commits is the only parent of the one before it, down to `end`: then `end` can have none of them. */
const isLine = (taken: readonly Met[], end: string | null): boolean =>
  taken.length > 0 &&
  taken.every(({ parentIds }, at) => parentIds.length === 1 && parentIds[0] === (taken[at + 1]?.id ?? end))

/** Marks a commit and its ancestors that were met. */
function spread(met: ReadonlyMap<string, Met>, from: Met, known: Set<Met>): void {
  const open = [from]
  for (let one = open.pop(); one; one = open.pop()) {
    if (known.has(one)) continue
    known.add(one)
    for (const id of one.parentIds) {
      const parent = met.get(id)
      if (parent) open.push(parent)
    }
  }
}
