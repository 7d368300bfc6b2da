// Reads JSON that is stored in the database. A text that an older version cut to the size of its column is no longer
// JSON; it must not hide its record, or the list of such records.

/** Returns the value of a stored JSON text, or `otherwise` when the text is not JSON. */
export function parseStored<T>(text: string, otherwise: T): T {
  try {
    return JSON.parse(text) as T
  } catch {
    return otherwise
  }
}
