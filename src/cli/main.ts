// Starts the command line. Each command loads what it needs by itself.
import { writeSync } from 'node:fs'
import { flush, handle, run } from '@oclif/core'
import { root } from '../config.js'

const [first, ...rest] = process.argv.slice(2)

// A reader such as `head` may close the pipe early. It takes no more output, so we do not wait until all is written.
const readerLeft = new Promise<void>(resolve => process.stdout.once('error', () => resolve()))
// Without this oclif throws the error of a full disk, with a stack trace. This listener has to come before that of oclif.
process.stdout.prependListener('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return
  tell(`gitstead: the output cannot be written: ${error.message}\n`)
  process.exit(1)
})
const allWritten = () => Promise.race([flush(), readerLeft])

try {
  await run(first === 'help' ? [...rest, '--help'] : process.argv.slice(2), { root })
  await allWritten()
} catch (error) {
  await allWritten()
  await fail(error as Error & { oclif?: { exit?: number } })
}

/** Writes to stderr. Where that is full as well, nobody can be told. */
function tell(line: string): void {
  try {
    writeSync(2, line)
  } catch {}
}

/** Commands report their own failures. Only a command that does not exist is reported here. */
async function fail(error: Error & { oclif?: { exit?: number } }): Promise<void> {
  if (!/^command .* not found/.test(error.message)) return handle(error)
  process.stderr.write(`gitstead: ${error.message}: run gitstead help for a list\n`)
  process.exit(2)
}
