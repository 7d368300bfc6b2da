// Whom a text mentions, and whom an edit adds.
import { parseText } from './references.js'

/** Returns the names of users and groups in a text, without the `@`. One without this sign is not parsed. */
export const mentionsOf = (text: string): readonly string[] => (text.includes('@') ? parseText(text, '').mentions : [])

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
