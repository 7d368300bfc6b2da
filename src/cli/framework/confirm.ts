// Commands that destroy something ask for confirmation: a script passes --yes, a person answers at the terminal.
import { createInterface } from 'node:readline/promises'
import { BadParameters, Failure } from '../../errors.js'
import { Flags } from '../oclif.js'

/** The flags of every command that destroys something. Spread them into its own flags. */
export const destroyingFlags = {
  'dry-run': Flags.boolean({ description: 'show what would be lost, and change nothing', exclusive: ['yes'] }),
  yes: Flags.boolean({ description: 'do not ask for confirmation' })
}

export interface Confirming {
  readonly yes: boolean
  /** A command that prints JSON does not ask, because nobody may be there to answer. */
  readonly json: boolean
}

const canAsk = ({ json }: Confirming) => process.stdin.isTTY === true && process.stderr.isTTY === true && !json

/**
 * Returns when --yes is given, or when a person at a terminal says yes to what is about to be destroyed. Throws
 * BadParameters without a terminal, Failure when the person says no.
 */
export async function confirm(what: string, how: Confirming): Promise<void> {
  if (how.yes) return
  requireAnswer(how)
  if (!/^y(es)?$/i.test((await ask(`${what}\nThis cannot be undone. Continue? [y/N] `)).trim())) {
    throw new Failure('nothing was changed')
  }
}

/** Throws BadParameters when nobody can answer the question. Call it before any slow work. */
export function requireAnswer(how: Confirming): void {
  if (how.yes || canAsk(how)) return
  const text = 'this destroys data: add --yes to confirm, or --dry-run to see what would be lost'
  throw new BadParameters(text, text)
}

/** Asks whether to do something harmless. Returns false without a terminal. */
export async function offer(question: string, how: Confirming): Promise<boolean> {
  if (how.yes || !canAsk(how)) return false
  return /^(y(es)?)?$/i.test((await ask(`${question} [Y/n] `)).trim())
}

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const left = new AbortController()
  // Ctrl-C and the end of the input are not an answer.
  terminal.once('SIGINT', () => left.abort())
  terminal.once('close', () => left.abort())
  try {
    return await terminal.question(question, { signal: left.signal })
  } catch {
    throw new Failure('nothing was changed')
  } finally {
    terminal.close()
  }
}
