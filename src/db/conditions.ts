// Conditions of lists.
import { PROSE_COLLATION } from './collations.js'

/** A text as a pattern of `like` that matches this text alone. */
const likeText = (text: string) => text.replace(/[\\%_]/g, '\\$&')

/**
 * Returns the condition that one of the columns contains a text, whatever its case and accents, with its values. Only for
 * searches by people.
 */
export function contains(columns: readonly string[], text: string): { sql: string; values: string[] } {
  const pattern = `%${likeText(text)}%`
  return {
    sql: `(${columns.map(column => `${column} collate ${PROSE_COLLATION} like ?`).join(' or ')})`,
    values: columns.map(() => pattern)
  }
}
