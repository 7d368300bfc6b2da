import { closest, distance } from 'fastest-levenshtein'

/** A longer word matches nothing: no name is this long, and computing the distance to a very long word takes long. */
const LONGEST = 64

/** Returns the name that a mistyped word most likely means, or undefined when none is similar. Ignores case. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  if (names.length === 0 || word.length > LONGEST) return undefined
  const typed = word.toLowerCase()
  const lowered = names.map(name => name.toLowerCase())
  const found = closest(typed, lowered)
  // Two letters in the wrong order are two changes.
  return distance(typed, found) <= (word.length < 4 ? 1 : 2) ? names[lowered.indexOf(found)] : undefined
}
