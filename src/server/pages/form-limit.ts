/** The largest body of a form with a note or a description, of at most 262,144 characters: a form encodes a character with up to nine bytes. */
export const FORM_LIMIT = 4 * 1024 * 1024

/** The largest body of any form: that of a snippet, whose text has at most 1,100,000 characters. */
export const LARGEST_FORM = 9 * 1_100_000
