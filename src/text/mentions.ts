// Finds the users and groups that a text mentions, and those that an edit adds.
import { isLong, readText } from './reading.js'

/** Returns the names of users and groups in a text, without the `@`. A text without this character is not read. */
export const mentionsOf = async (text: string): Promise<readonly string[]> =>
  text.includes('@') ? (await readText(text)).mentions : []

/** Reads long texts before a transaction that needs their mentions, which would otherwise hold its locks for this time. */
export async function readAhead(...texts: readonly string[]): Promise<void> {
  for (const text of texts) if (isLong(text)) await mentionsOf(text)
}

/** The sign of a name or a reference: by itself, as an HTML entity, or in an address. */
const SIGN = /[@#!&]|:\/\//
/** The most characters of a short text. */
const SHORT = 16_384

/** Whether texts are short, name nobody and refer to no issue or merge request. It parses nothing: most texts are plain. */
export const isPlain = (...texts: readonly (string | null | undefined)[]): boolean =>
  texts.every(text => !text || (text.length <= SHORT && !SIGN.test(text)))

/** Returns the names that a text has and that its earlier version did not have. */
export async function addedMentions(before: string, after: string): Promise<readonly string[]> {
  const names = await mentionsOf(after)
  if (names.length === 0) return names
  const known = new Set((await mentionsOf(before)).map(name => name.toLowerCase()))
  return names.filter(name => !known.has(name.toLowerCase()))
}

/** Reads ahead what addedMentions needs for a change of the texts of a record. */
export async function readEdit(before: RecordTexts, changed: Partial<RecordTexts>): Promise<void> {
  const [was, now] = [textOf(before), textOf({ ...before, ...changed })]
  if (was !== now) await readAhead(now, was)
}

/** The text of an issue or a merge request. */
export interface RecordTexts {
  readonly title: string
  readonly description: string | null
}

/** A title and a description as one text. */
export const textOf = ({ title, description }: RecordTexts): string => `${title}\n\n${description ?? ''}`
