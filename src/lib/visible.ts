// Texts of others may contain characters that change how the rest of a line looks: controls, and marks that turn its
// direction. Pages show these characters by name, so that code looks as it runs.

const CONTROLS = /[\u0000-\u0008\u000a-\u001f\u007f]/g
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g
/** Most texts have neither: one look takes a fifth of the time of replacing them. */
const EITHER = /[\u0000-\u0008\u000a-\u001f\u007f\u202a-\u202e\u2066-\u2069]/

/** Returns a line or a name in which every control character and every mark of direction can be seen. */
export function visible(text: string): string {
  if (!EITHER.test(text)) return text
  return text
    .replace(CONTROLS, sign => (sign === '\u007f' ? '\u2421' : String.fromCharCode(0x2400 + sign.charCodeAt(0))))
    .replace(DIRECTIONS, sign => `[U+${sign.charCodeAt(0).toString(16).toUpperCase()}]`)
}

/** Characters of a name that are shown. Git and zip archives allow names of 65,000 bytes. */
const LONGEST_NAME = 255

/** Returns a name or path as `visible` does, in at most as many characters as a page has room for. */
export function visibleName(name: string, most = LONGEST_NAME): string {
  // Without half of a character at the end.
  return visible(name.length > most ? `${name.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…` : name)
}
