// Finds the issues that a commit or a merge request closes: `Closes #1, #2 and group/project#3`. Decided: the pattern needs
// a word boundary, does not read code or quotes, and does not match words in capitals.
import { passagesOf } from './markdown.js'
import { keyOf, MOST_REFERENCES, type Reference, referenceOfUrl } from './references.js'

const WORDS =
  /(?<![\p{L}\p{N}_-])(?:[Cc]los(?:e[sd]?|ing)|[Ff]ix(?:e[sd]|ing)?|[Rr]esolv(?:e[sd]?|ing))(?![\p{L}\p{N}_]):? {1,20}/gu
const PREFIX = /issues? {1,20}/y
const NUMBER = /(?:([A-Za-z0-9_.][\w.-]{0,254}\/[A-Za-z0-9_.][\w.-]{0,254}))?#(\d{1,10})(?![\p{L}\p{N}_])/uy
const URL_HERE = /https?:\/\/[^\s<>"'`\ufffc]{1,2000}/y
const SEPARATOR = / {0,20},? {1,20}and {1,20}| {0,20}, {0,20}| {1,20}(?=https?:|#)/y

/** Whether a text can close anything: most texts cannot, and are not parsed. */
export const mayClose = (text: string): boolean => /[Cc]los|[Ff]ix|[Rr]esolv/.test(text)

/** Returns the issues that a text closes, in the order of the text. `base` is the URL of the appliance. */
export function closedIssues(text: string, base: string): Reference[] {
  if (!mayClose(text)) return []
  const found = new Map<string, Reference>()
  for (const { text: passage } of passagesOf(text)) {
    for (const { index, 0: word } of passage.matchAll(WORDS)) {
      for (const reference of listAt(passage, index + word.length, base)) {
        if (found.size < MOST_REFERENCES && reference.kind === 'issue') found.set(keyOf(reference), reference)
      }
    }
  }
  return [...found.values()]
}

/** Yields the references of a list that begins at a position in a text. */
function* listAt(text: string, start: number, base: string): Generator<Reference> {
  let at = start
  const take = (expression: RegExp) => {
    expression.lastIndex = at
    const match = expression.exec(text)
    if (match) at = expression.lastIndex
    return match
  }
  for (;;) {
    take(PREFIX)
    const number = take(NUMBER)
    const url = number ? null : take(URL_HERE)
    const trailing = url && /[).,;:!?*_]{1,10}$/.exec(url[0])
    // The comma of a list is not part of the URL.
    if (trailing) at -= trailing[0].length
    const reference = number
      ? { kind: 'issue' as const, project: number[1] ?? null, name: String(Number(number[2])) }
      : url && referenceOfUrl(url[0], base)
    if (!reference) return
    yield reference
    if (!take(SEPARATOR)) return
  }
}
