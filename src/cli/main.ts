// Starts the command line. Each command loads what it needs by itself.
import { writeSync } from 'node:fs'
import { Config, flush, handle, run } from './oclif.js'
import { optionsFor, root } from './one-command.js'

const [first, ...rest] = process.argv.slice(2)

// Debian has mariadbd in a folder to which the PATH of an ordinary user does not lead.
const folders = (process.env.PATH ?? '').split(':')
process.env.PATH = [...folders, ...['/usr/sbin', '/sbin'].filter(folder => !folders.includes(folder))].join(':')

// A reader such as `head` may close the pipe early. It reads no more output, so we do not wait until everything is written.
const readerLeft = new Promise<void>(resolve => process.stdout.once('error', () => resolve()))
const allWritten = () => Promise.race([flush(), readerLeft])

/** These commands keep running when their output cannot be written: a full disk under their log must not stop the appliance. */
const SERVICES: readonly (string | undefined)[] = ['up', 'server', 'worker']

// This comes before the listener of oclif, which throws the error, so that its trace is printed.
process.stdout.prependListener('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return
  if (!SERVICES.includes(first)) {
    complain(`gitstead: cannot write the output: ${error.message}\n`)
    process.exit(1)
  }
  // The listener of oclif ignores only this code.
  error.code = 'EPIPE'
})
process.stderr.on('error', () => undefined)

try {
  const words = first === 'help' ? [...rest, '--help'] : process.argv.slice(2)
  await run(words, await optionsFor(words))
  await allWritten()
} catch (error) {
  await allWritten()
  await fail(error as Error & { oclif?: { exit?: number } })
}

/** Writes to stderr. If its disk is also full, there is nowhere to report the error. */
function complain(line: string): void {
  try {
    writeSync(2, line)
  } catch {}
}

/** Commands report their own failures. Only a command that does not exist is reported here. */
async function fail(error: Error & { oclif?: { exit?: number } }): Promise<void> {
  const unknown = /^command (.*) not found/i.exec(error.message)?.[1]?.replaceAll(':', ' ')
  if (unknown === undefined) return handle(error)
  const meant = await nearestCommand(unknown)
  const message = messageOf(unknown, meant)
  if (process.argv.includes('--json'))
    process.stdout.write(`${JSON.stringify({ error: { code: 'usage', message } })}\n`)
  else process.stderr.write(`gitstead: ${message}\n`)
  process.exit(2)
}

/** When a command that takes no arguments gets one, oclif reports that the command does not exist. */
function messageOf(unknown: string, meant: string | undefined): string {
  if (meant === undefined) return `command ${unknown} not found: run gitstead help for a list`
  if (!unknown.startsWith(`${meant} `)) return `command ${unknown} not found: did you mean gitstead ${meant}?`
  return `unexpected argument ${unknown.slice(meant.length + 1)}: see gitstead ${meant} --help`
}

/** oclif passes all words up to the first flag, so the last of them may be arguments. */
async function nearestCommand(text: string): Promise<string | undefined> {
  const { nearest } = await import('../lib/nearest.js')
  const { commands } = await Config.load({ root })
  const names = commands.filter(({ hidden }) => !hidden).map(({ id }) => id.replaceAll(':', ' '))
  const words = text.split(' ')
  const lengths = words.map((_, at) => words.length - at)
  return lengths.map(length => nearest(words.slice(0, length).join(' '), names)).find(name => name !== undefined)
}
