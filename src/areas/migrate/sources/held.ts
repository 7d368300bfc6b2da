// What is held in memory: lists that are sorted, and the notes of one record, which are read before the record itself, because they say who
// took part, and yielded after it.
import type { Draft, Person, Skipped } from './source.js'

/** Items of a list that is sorted in memory, and characters of all of them. */
const MOST_ITEMS = 100_000
const LARGEST_LIST = 16_000_000

/** Returns the items of a list that is sorted in memory. Those for which there is no room are reported. */
export async function held<T>(
  items: AsyncIterable<T>,
  { what, skipped, most = LARGEST_LIST }: { readonly what: string; readonly skipped: Skipped; readonly most?: number }
): Promise<T[]> {
  const found: T[] = []
  let size = 0
  for await (const item of items) {
    size += JSON.stringify(item).length
    if (found.length < MOST_ITEMS && size <= most) found.push(item)
    else skipped(what, `one list has more than ${MOST_ITEMS} of them, or more than ${most} characters`)
  }
  return found
}

/** Characters of notes that are kept in memory. More are read again, from the disk. */
const MOST_HELD = 2_000_000
const MOST_PEOPLE = 10_000

export interface HeldNotes {
  /** Everybody who wrote one that is not automatic, in their order. */
  readonly people: ReadonlySet<string>
  drafts(): Iterable<Draft> | AsyncIterable<Draft>
}

/** Reads all notes once. `read` starts from the first note with each call. */
export async function holdNotes(read: () => AsyncIterable<Draft>): Promise<HeldNotes> {
  const people = new Set<string>()
  let held: Draft[] | null = []
  let size = 0
  for await (const draft of read()) {
    const author = draft.author as Person
    if (author !== null && draft.is_system !== true && people.size < MOST_PEOPLE) people.add(author)
    size += 200 + String(draft.note).length
    if (size > MOST_HELD) held = null
    held?.push(draft)
  }
  const kept = held
  return { people, drafts: () => kept ?? read() }
}
