// What records of issues and merge requests show that areas above them know: notes, votes, and who takes part. Those areas
// register how it is read, with one statement for all records of a page.
import type { TargetType } from './targets.js'

export type ReadingKind = 'user_notes_count' | 'upvotes' | 'downvotes'

/** Returns the counts of those of `ids` that have any. */
export type Count = (type: TargetType, ids: readonly number[]) => Promise<ReadonlyMap<number, number>>

/** Returns those of `ids` in which the user takes part, such as by a note or by being mentioned. */
export type TakesPart = (type: TargetType, ids: readonly number[], userId: number) => Promise<ReadonlySet<number>>

const counts = new Map<ReadingKind, Count>()
const parts: TakesPart[] = []

/** Says how a kind of count is read. The last one that is registered counts. */
export const addReading = (kind: ReadingKind, count: Count): void => void counts.set(kind, count)

/** Says by what else users take part in a target than as its author or assignee. */
export const addParticipation = (takesPart: TakesPart): void => void parts.push(takesPart)

const NONE: ReadonlyMap<number, number> = new Map()

/** Reads a kind of count for all records of a page. */
export async function readCounts(
  kind: ReadingKind,
  type: TargetType,
  ids: readonly number[]
): Promise<ReadonlyMap<number, number>> {
  return ids.length === 0 ? NONE : ((await counts.get(kind)?.(type, ids)) ?? NONE)
}

/** Returns those of `ids` in which the user takes part otherwise than as author or assignee. */
export async function readParticipation(
  type: TargetType,
  ids: readonly number[],
  userId: number
): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set()
  const found = await Promise.all(parts.map(takesPart => takesPart(type, ids, userId)))
  return new Set(found.flatMap(some => [...some]))
}
