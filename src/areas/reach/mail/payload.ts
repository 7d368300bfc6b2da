// The facts of a mail as they are stored: JSON of at most 64 KiB. Texts of people may be larger, and a mail need not show all.

const LARGEST = 65_536
/** Characters of each text. When the first limit is not enough, the next one is tried. */
const LIMITS = [10_000, 2_000, 300]

/** Returns a text of at most `most` characters. One that was longer says at its end that it was cut. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text
  // Not between the two halves of a character.
  const end = /[\uD800-\uDBFF]/.test(text[most - 1] ?? '') ? most - 1 : most
  return `${text.slice(0, end)}\n[cut: the whole text has ${text.length} characters]`
}

/** Returns the facts as JSON. Long texts are cut. Throws when they are too large even then: a list has no end. */
export function factsText(facts: object): string {
  for (const most of LIMITS) {
    const text = JSON.stringify(facts, (_, value) => (typeof value === 'string' ? cutText(value, most) : value))
    if (Buffer.byteLength(text) <= LARGEST) return text
  }
  throw new Error('the facts of a mail are too large')
}
