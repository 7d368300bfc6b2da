import { TerminalText } from '../../../src/cli/output/terminal-text.js'
import t from '../../helpers/tap.js'

const printed = (...pieces: string[]) => {
  const terminal = new TerminalText()
  return pieces.map(piece => terminal.of(Buffer.from(piece))).join('')
}

t.test('colors and line ends are kept, other control characters are removed', async t => {
  t.equal(printed('\u001b[32;1mok\u001b[0m\r\n\tx'), '\u001b[32;1mok\u001b[0m\r\n\tx')
  t.equal(printed('\u001b[2Ja\u001b[10;1Hb\u001b]0;title\u0007c\u0008'), 'ab]0;titlec')
  t.equal(printed('\u001b[0Ksection'), 'section')
})

t.test('a sequence or character that is split between two pieces stays whole', async t => {
  t.equal(printed('a\u001b', '[3', '1mb'), 'a\u001b[31mb')
  t.equal(printed('a\u001b[', '2Jb'), 'ab')
  const [head, tail] = [Buffer.from('ä').subarray(0, 1), Buffer.from('ä').subarray(1)]
  const terminal = new TerminalText()
  t.equal(terminal.of(head) + terminal.of(tail), 'ä')
  t.equal(
    printed(`\u001b${'['.repeat(70)}`, 'x').endsWith('x'),
    true,
    'an escape character without a sequence does not delay the output'
  )
})
