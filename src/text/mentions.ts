// Finds the users and groups that a text mentions, and those that an edit adds.
import { parseText } from './references.js'

/** Returns the names of users and groups in a text, without the `@`. A text without this character is not parsed. */
export const mentionsOf = (text: string): readonly string[] => (text.includes('@') ? parseText(text, '').mentions : [])

/** The sign of a name or a reference: by itself, as an HTML entity, or in an address. */
const SIGN = /[@#!&]|:\/\//
/** The most characters of a short text. */
const SHORT = 16_384

/** Whether texts are short, name nobody and refer to no issue or merge request. It parses nothing: most texts are plain. */
export const isPlain = (...texts: readonly (string | null | undefined)[]): boolean =>
  texts.every(text => !text || (text.length <= SHORT && !SIGN.test(text)))

/** Returns the names that a text has and that its earlier version did not have. */
export function addedMentions(before: string, after: string): readonly string[] {
  const names = mentionsOf(after)
  if (names.length === 0) return names
  const known = new Set(mentionsOf(before).map(name => name.toLowerCase()))
  return names.filter(name => !known.has(name.toLowerCase()))
}

/** The text of an issue or a merge request. */
export interface RecordTexts {
  readonly title: string
  readonly description: string | null
}

/** A title and a description as one text. */
export const textOf = ({ title, description }: RecordTexts): string => `${title}\n\n${description ?? ''}`
