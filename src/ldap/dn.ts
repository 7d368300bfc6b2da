/** Returns the same text for all spellings of a DN (RFC 4514): case, spaces around separators, and escapes do not matter. */
export function sameDn(dn: string): string {
  return split(dn, ',')
    .map(rdn => split(rdn, '+').map(pair).sort().join('+'))
    .join(',')
}

function pair(text: string): string {
  const at = text.indexOf('=')
  const value = plain(text.slice(at + 1).trim())
    .replace(/\s+/g, ' ')
    .toLowerCase()
  // Separators in the value stay distinct from those between values.
  return `${text.slice(0, at).trim().toLowerCase()}=${value.replace(/[\\,+=]/g, '\\$&')}`
}

/** Splits at a separator that has no backslash before it. */
function split(text: string, separator: string): string[] {
  const parts: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at += 1
    else if (text[at] === separator) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  return [...parts, text.slice(start)]
}

/** Each escape is a character, or two hexadecimal digits of a byte of UTF-8. */
function plain(text: string): string {
  return text.replace(/(?:\\[0-9a-fA-F]{2})+|\\(.)/gs, (all, character) =>
    character === undefined ? Buffer.from(all.replaceAll('\\', ''), 'hex').toString() : character
  )
}
