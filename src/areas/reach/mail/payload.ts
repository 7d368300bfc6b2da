// Stores the facts of a mail as JSON of at most 64 KiB. Texts of users may be larger, and a mail need not show all of them.

const LARGEST = 65_536
/** Limits of characters for each text. When the result is still too large, the next limit is tried. */
const LIMITS = [10_000, 2_000, 300]

/** Returns a text of at most `most` characters. A note at the end says when the text was cut. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text
  // Do not cut between the two halves of a character.
  const end = /[\uD800-\uDBFF]/.test(text[most - 1] ?? '') ? most - 1 : most
  return `${text.slice(0, end)}\n[cut: the whole text has ${text.length} characters]`
}

/** Returns the facts as JSON, with long texts cut. Throws when they are still too large: a list has no limit. */
export function factsText(facts: object): string {
  for (const most of LIMITS) {
    const text = JSON.stringify(facts, (_, value) => (typeof value === 'string' ? cutText(value, most) : value))
    if (Buffer.byteLength(text) <= LARGEST) return text
  }
  throw new Error('the facts of a mail are too large')
}
