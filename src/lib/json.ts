// Measures JSON before it is parsed: `[{},{},...` of 10 MB becomes 200 MB of objects.

const QUOTE = 34
const BACKSLASH = 92
const COMMA = 44
const OPEN_LIST = 91
const OPEN_OBJECT = 123

/**
 * Returns true when the JSON `text` has more than `most` values. It skips strings by searching for their end, so that a
 * long file in a string costs little. For text that is not valid JSON the result is arbitrary.
 */
export function hasMoreValues(text: string, most: number): boolean {
  // Each value needs a character and a separator.
  if (text.length <= most * 2) return false
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if ((code === COMMA || code === OPEN_LIST || code === OPEN_OBJECT) && ++count >= most) return true
  }
  return false
}

/** Returns the position of the quote that ends the string which begins at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let from = start + 1; ; ) {
    const end = text.indexOf('"', from)
    if (end === -1) return text.length
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return end
    from = end + 1
  }
}
