/** The largest body of a form with a note or a description, of at most 262,144 characters: a form encodes a character with up to nine bytes. */
export const FORM_LIMIT = 4 * 1024 * 1024
