// A page with 100 notes of the full length would have tens of megabytes.

/** How many characters of notes a page shows, and how many of each note after that. */
const ROOM = 500_000
const BEGINNING = 5_000

interface Shortened {
  readonly text: string
  readonly isCut: boolean
}

/** Returns the texts of a page, of which those that do not fit are cut. */
export function shortened(texts: readonly string[]): Shortened[] {
  let room = ROOM
  return texts.map(text => {
    const isCut = text.length > Math.max(room, BEGINNING)
    // Without half of a character at the end.
    const shown = isCut ? text.slice(0, BEGINNING).replace(/[\ud800-\udbff]$/, '') : text
    room -= shown.length
    return { text: shown, isCut }
  })
}
