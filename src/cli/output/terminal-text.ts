// Makes the output of a build safe for the terminal of a sysadmin: it keeps colors and removes all other control characters.
// They could move the cursor, change the title, or make the terminal send input as if somebody had typed it.
import { StringDecoder } from 'node:string_decoder'

const ESCAPE = '\u001b'
/** An escape character, a bracket, parameters and a letter (the letter m sets colors), or any control character. */
const SIGNS = /\u001b\[[0-9;:?]*[ -/]*[@-~]|[\p{Cc}\p{Cf}\u2028\u2029]/gu
const KEPT = /^(?:\u001b\[[0-9;:]*m|[\n\r\t])$/
const WHOLE = /^\u001b(?:[^[]|\[[0-9;:?]*[ -/]*[@-~])/
/** Characters. An escape character that starts no complete sequence within this length is a single control character. */
const LONGEST_SEQUENCE = 64

/** Filters text that arrives in pieces. A piece may end in the middle of a character or of a sequence. */
export class TerminalText {
  private readonly decoder = new StringDecoder('utf8')
  private rest = ''

  of(piece: Uint8Array): string {
    const text = this.rest + this.decoder.write(Buffer.from(piece))
    const open = text.lastIndexOf(ESCAPE)
    const whole = open === -1 || text.length - open > LONGEST_SEQUENCE || WHOLE.test(text.slice(open))
    const cut = whole ? text.length : open
    this.rest = text.slice(cut)
    return text.slice(0, cut).replace(SIGNS, sign => (KEPT.test(sign) ? sign : ''))
  }
}
