// Tests the alternate screen: its output, and that the terminal is always restored.
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { Screen } from '../../../src/cli/dashboard/screen.js'
import t from '../../helpers/tap.js'

class Terminal extends EventEmitter {
  columns = 20
  rows = 4
  written = ''
  write(text: string): boolean {
    this.written += text
    return true
  }
  /** Returns the output since the last call. */
  take(): string {
    const { written } = this
    this.written = ''
    return written
  }
}

function entered() {
  const terminal = new Terminal()
  const screen = new Screen(terminal as unknown as NodeJS.WriteStream)
  screen.enter()
  terminal.take()
  return { terminal, screen }
}

t.test('the screen writes only lines that changed, each at its place', async t => {
  const { terminal, screen } = entered()
  screen.write('one\ntwo\nthree')
  t.match(terminal.take(), /\[1;1H.*one.*\[2;1H.*two.*\[3;1H.*three/s)
  screen.write('one\n2\nthree')
  t.equal(terminal.take(), '\u001B[?2026h\u001B[2;1H\u001B[2K2\u001B[0m\u001B[?2026l')
  screen.write('one\n2\nthree')
  t.equal(terminal.take(), '')
  screen.write('one')
  t.match(terminal.take(), /\[2;1H.\[2K.\[0m.\[3;1H.\[2K/, 'old lines are cleared')
  screen.leave()
})

t.test('a held frame appears in the place of its character', async t => {
  const { terminal, screen } = entered()
  const held = screen.hold('one\n\nthree')
  t.equal(held.length, 1)
  screen.write(held)
  t.match(terminal.take(), /\[1;1H.\[2Kone.*\[3;1H.\[2Kthree/s)
  screen.write(screen.hold('one\n\n3'))
  t.equal(terminal.take(), '\u001B[?2026h\u001B[3;1H\u001B[2K3\u001B[0m\u001B[?2026l')
  screen.leave()
})

t.test('the screen writes nothing below the last line', async t => {
  const { terminal, screen } = entered()
  screen.write('1\n2\n3\n4\n5\n6')
  t.notMatch(terminal.take(), /\[5;1H/)
  screen.leave()
})

t.test('after a change of size the screen writes every line', async t => {
  const { terminal, screen } = entered()
  screen.write('one\ntwo')
  const told = once(screen, 'size')
  Object.assign(terminal, { columns: 30, rows: 10 })
  terminal.take()
  terminal.emit('resize')
  await told
  t.same(screen.size, { columns: 30, rows: 10 })
  screen.write('one\ntwo')
  t.match(terminal.take(), /\[2J.*one.*two/s)
  screen.leave()
})

t.test('the terminal is restored once, and nothing is written after that', async t => {
  const { terminal, screen } = entered()
  const listeners = process.listenerCount('exit')
  screen.leave()
  t.match(terminal.take(), /\[\?7h.\[\?25h.\[\?1049l$/)
  screen.leave()
  screen.write('late')
  terminal.emit('resize')
  t.equal(terminal.take(), '')
  t.equal(process.listenerCount('exit'), listeners - 1)
})

t.test('the terminal is restored when an error ends the program', async t => {
  const module = new URL('../../../src/cli/dashboard/screen.js', import.meta.url).href
  const program = `const { Screen } = await import('${module}'); new Screen(process.stdout).enter();
    setTimeout(() => { throw new Error('a fault') }, 1)`
  const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, '--input-type=module', '-e', program])
  let stdout = ''
  child.stdout.on('data', chunk => (stdout += String(chunk)))
  const [code] = await once(child, 'close')
  t.equal(code, 1)
  t.match(stdout, /^.\[\?1049h.*\[\?1049l$/s)
})
