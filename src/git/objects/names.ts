// Git stores any bytes as a name. A byte that is not UTF-8 is shown as git itself prints it, as a backslash and three octal
// digits; so is a backslash in such a name. Other names are shown as they are.
import { isUtf8 } from 'node:buffer'

const BACKSLASH = 92
const ESCAPED = /\\[0-3][0-7]{2}/

/** Returns the text for a name in stored bytes. */
export function textOfName(raw: Buffer, from: number, end: number): string {
  const text = raw.toString('utf8', from, end)
  // U+FFFD stands for wrong bytes, or for itself.
  return text.includes('\ufffd') && !isUtf8(raw.subarray(from, end)) ? escaped(raw.subarray(from, end)) : text
}

/** Returns the text for a path in stored bytes, in which each name is as its tree shows it. */
export function textOfPath(raw: Buffer): string {
  const text = raw.toString()
  if (!text.includes('\ufffd') || isUtf8(raw)) return text
  const names = raw.toString('latin1').split('/')
  return names.map(name => textOfName(Buffer.from(name, 'latin1'), 0, name.length)).join('/')
}

/** Returns whether a name may be the text for bytes that are not UTF-8. */
export const mayBeEscaped = (name: string): boolean => ESCAPED.test(name)

function escaped(bytes: Buffer): string {
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0
    const length = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    const character = bytes.subarray(at, at + length)
    const isWhole = byte !== BACKSLASH && isUtf8(character)
    text += isWhole ? character.toString() : `\\${byte.toString(8).padStart(3, '0')}`
    at += isWhole ? length : 1
  }
  return text
}
