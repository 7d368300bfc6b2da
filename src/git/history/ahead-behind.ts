// Counts how far branches are ahead of another branch and behind it, for all of them in one walk without a process.
import { remember } from '../objects/cache.js'
import { isObjectId } from '../objects/reader.js'
import { nextPiece } from '../objects/time-slices.js'
import { type Step, StepQueue, stepReader } from './steps.js'

interface Distance {
  /** The commits that the branch has and the base does not. */
  readonly ahead: number
  readonly behind: number
}

/** The number of branches of one walk: each has a bit of a number. */
const MOST_TIPS = 30
/** The maximum number of commits that are read, and that are read one by one. */
const MOST_READ = 20_000
const MOST_SINGLE = 2000
/** After this many commits, some milliseconds of work, other requests get their turn. */
const STRETCH = 500
/** Commits that are read after the end, as git does: one with a wrong date may lead to a commit that was counted. */
const SLOP = 16
/** The bit of the base. */
const BASE = 1

/**
 * Returns the distance of each tip from the base. All are ids of commits, at most MOST_TIPS. Returns null when the
 * histories meet only after very many commits. The result never changes, so the cache keeps it.
 */
export function distances(
  repository: string,
  base: string,
  tips: readonly string[]
): Promise<ReadonlyMap<string, Distance> | null> {
  const ids = [...new Set(tips)].sort()
  if (![base, ...ids].every(isObjectId) || ids.length > MOST_TIPS) throw new TypeError('not commits')
  return remember(repository, `distances ${base} ${ids.join(' ')}`, async () => {
    const value = await count(repository, base, ids)
    return value && { value, size: ids.length * 150 }
  })
}

async function count(repository: string, base: string, tips: readonly string[]) {
  const reader = await stepReader(repository)
  const all = 2 ** (tips.length + 1) - 1
  /** The bits of the tips that have each commit. A commit with a wrong date is met again, and gets more of them. */
  const marks = new Map<string, number>()
  const queue = new StepQueue<number>()
  const add = (step: Step | null, bits: number) => {
    if (step && ((marks.get(step.id) ?? 0) | bits) !== marks.get(step.id)) queue.add(step, bits, known => known | bits)
  }
  for (const [at, id] of [base, ...tips].entries()) add(await reader.read(id), 2 ** at)
  for (let [steps, slop] = [1, SLOP]; slop > 0; steps++) {
    slop = queue.some(bits => bits !== all) ? SLOP : slop - 1
    const next = queue.take()
    if (!next) break
    if (steps > MOST_READ || reader.single() > MOST_SINGLE) return null
    if (steps % STRETCH === 0) await nextPiece()
    const bits = (marks.get(next.step.id) ?? 0) | next.value
    marks.set(next.step.id, bits)
    for (const id of next.step.parentIds) add(await reader.read(id), bits)
  }
  return new Map(tips.map((id, at) => [id, distanceOf(marks.values(), 2 ** (at + 1))]))
}

function distanceOf(marks: Iterable<number>, bit: number): Distance {
  let [ahead, behind] = [0, 0]
  for (const bits of marks) {
    if (bits & bit && !(bits & BASE)) ahead += 1
    if (bits & BASE && !(bits & bit)) behind += 1
  }
  return { ahead, behind }
}
