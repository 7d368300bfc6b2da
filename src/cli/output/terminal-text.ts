// Makes what a build has printed safe for the terminal of a sysadmin: colors stay, all other control signs go. They could
// move the cursor, change the title, or have the terminal answer as if somebody had typed.
import { StringDecoder } from 'node:string_decoder'

const ESCAPE = '\u001b'
/** A sequence of an escape sign, a bracket, parameters and a letter; the letter m sets colors. Or any control sign. */
const SIGNS = /\u001b\[[0-9;:?]*[ -/]*[@-~]|[\p{Cc}\p{Cf}\u2028\u2029]/gu
const KEPT = /^(?:\u001b\[[0-9;:]*m|[\n\r\t])$/
const WHOLE = /^\u001b(?:[^[]|\[[0-9;:?]*[ -/]*[@-~])/
/** Characters. An escape sign that no sequence follows within this many is none. */
const LONGEST_SEQUENCE = 64

/** Takes a text in pieces, which may end in the middle of a character or of a sequence. */
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
