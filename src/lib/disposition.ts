import { create } from 'content-disposition'

/**
 * Returns the value of the header Content-Disposition, which sets the name of a download. `filename` is for clients that
 * do not know `filename*`: it has `?` in place of characters that it cannot contain.
 */
export const contentDisposition = (type: 'inline' | 'attachment', name: string): string =>
  // Half of a surrogate pair is not a character.
  create(name.toWellFormed(), { type })
