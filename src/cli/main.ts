// The command line: everything else is loaded by the command that needs it.
import { flush, handle, run } from '@oclif/core'
import { root } from '../config.js'

const [first, ...rest] = process.argv.slice(2)

// Whoever has read enough and leaves, as `head` does, takes nothing more: then there is nothing to wait for.
const readerLeft = new Promise<void>(resolve => process.stdout.once('error', () => resolve()))
const allWritten = () => Promise.race([flush(), readerLeft])

try {
  await run(first === 'help' ? [...rest, '--help'] : process.argv.slice(2), { root })
  await allWritten()
} catch (error) {
  await allWritten()
  await fail(error as Error & { oclif?: { exit?: number } })
}

/** Commands name their own failures; what is left is a command that does not exist. */
async function fail(error: Error & { oclif?: { exit?: number } }): Promise<void> {
  if (!/^command .* not found/.test(error.message)) return handle(error)
  process.stderr.write(`gitstead: ${error.message}: see gitstead help\n`)
  process.exit(2)
}
