// What records of issues and merge requests show that areas above them know: notes, votes, and who takes part. Those areas
// register how it is read.
import { marks, padded, rows } from '../../db/sql.js'
import type { TargetType } from './targets.js'

/** What is counted. */
export interface Counts {
  readonly user_notes_count: number
  readonly upvotes: number
  readonly downvotes: number
}

/**
 * A part of the one statement that counts for a page: it gives `id`, `kind` (a name of Counts) and `count` for those that have
 * any. Its values are the type of the records, then their ids, for which `marks` has the marks.
 */
export type Counting = (marks: string) => string

/** Returns those of `ids` in which the user takes part, such as by a note or by being mentioned. */
export type TakesPart = (type: TargetType, ids: readonly number[], userId: number) => Promise<ReadonlySet<number>>

const countings: Counting[] = []
const parts: TakesPart[] = []

/** Adds a part to the statement that counts. */
export const addReading = (counting: Counting): void => void countings.push(counting)

/** Says by what else users take part in a target than as its author or assignee. */
export const addParticipation = (takesPart: TakesPart): void => void parts.push(takesPart)

const NONE: Counts = { user_notes_count: 0, upvotes: 0, downvotes: 0 }

interface Counted {
  readonly id: number
  readonly kind: keyof Counts
  readonly count: number
}

/** Counts for all records of a page, with one statement. Returns the counts of a record by its id. */
export async function readCounts(type: TargetType, ids: readonly number[]): Promise<(id: number) => Counts> {
  if (ids.length === 0 || countings.length === 0) return () => NONE
  const list = padded(ids)
  const found = await rows<Counted>(
    countings.map(counting => counting(marks(list))).join('\nunion all '),
    countings.flatMap(() => [type, ...list])
  )
  const counts = new Map<number, Counts>()
  for (const { id, kind, count } of found) counts.set(id, { ...NONE, ...counts.get(id), [kind]: count })
  return id => counts.get(id) ?? NONE
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
