// How commands report failures: the exit code, the code in --json, and one line of text.
import * as errors from '../../errors.js'

/** 0 ok, 1 failed, 2 usage, 3 not found, 4 exists or conflict, 5 unavailable, 6 already running. */
export const ExitCode = { failed: 1, usage: 2, notFound: 3, conflict: 4, unavailable: 5, running: 6 } as const

/** Marks a failure after the output began: its message goes to stderr, because stdout has half of a JSON document. */
export const INTERRUPTED = Symbol('interrupted')

/** Returns the message of a failure for people: one line. */
export function plainMessage(error: Error): string {
  // `message` is for the API, such as "400 (Bad request) ...". `error` is the plain text.
  const failure = error instanceof errors.BadParameters ? error.error : error.message
  const text = error instanceof errors.Failure ? failure.replace(/^4\d\d /, '') : error.message
  // The messages of oclif have several lines and end with a hint about the help.
  return text
    .replace(/\s*See more help with --help\s*$/, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** The names of the exit codes, for --json. */
const CODES: { readonly [exitCode: number]: string } = {
  [ExitCode.failed]: 'failed',
  [ExitCode.usage]: 'usage',
  [ExitCode.notFound]: 'not_found',
  [ExitCode.conflict]: 'conflict',
  [ExitCode.unavailable]: 'unavailable',
  [ExitCode.running]: 'running'
}
/** Returns the code of a failure for --json. */
export const codeOf = (error: Error) => CODES[exitCodeOf(error)] ?? 'failed'

export function exitCodeOf(error: Error & { oclif?: { exit?: number } }): number {
  if (error instanceof errors.NotFound || error instanceof errors.NothingThere || error instanceof errors.NoHome)
    return ExitCode.notFound
  if (error instanceof errors.Conflict || error instanceof errors.Taken) return ExitCode.conflict
  if (error instanceof errors.Unavailable) return ExitCode.unavailable
  if (error instanceof errors.AlreadyRunning) return ExitCode.running
  if (error instanceof errors.Invalid || error instanceof errors.BadParameters) return ExitCode.usage
  if (error instanceof errors.Failure) return ExitCode.failed
  return error.oclif?.exit === 2 ? ExitCode.usage : ExitCode.failed
}
