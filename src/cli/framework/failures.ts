// How commands report failures: the exit code, the code in --json, and one line of text.
import * as errors from '../../errors.js'

/** 0 ok, 1 failed, 2 usage, 3 not found, 4 exists or conflict, 5 unavailable, 6 already running. */
export const ExitCode = { failed: 1, usage: 2, notFound: 3, conflict: 4, unavailable: 5, running: 6 } as const

/** Marks a failure after the output began: its message goes to stderr, because stdout has half of a JSON document. */
export const INTERRUPTED = Symbol('interrupted')

/** Some texts of the API contain the failure of a rule as JSON: this returns that failure itself. */
const innermost = (error: Error): Error =>
  error instanceof errors.BadRequest && error.cause instanceof errors.Failure ? error.cause : error

/** Returns the text of a failure; `message` is for the API, such as "400 (Bad request) ...". */
function textOf(failure: errors.Failure): string {
  if (failure instanceof errors.BadParameters) return failure.error
  if (failure instanceof errors.Forbidden && failure.reason !== undefined) return failure.reason
  const why = failure instanceof errors.NotAllowed || failure instanceof errors.NotAcceptable ? failure.why : undefined
  return (why ?? failure.message).replace(/^4\d\d /, '')
}

/** Returns the message of a failure for people: one line. */
export function plainMessage(error: Error): string {
  const failure = innermost(error)
  const text = failure instanceof errors.Failure ? textOf(failure) : failure.message
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

/** The kinds of failures with each exit code. All other failures have the code 1. docs/reference/commands.md has the meanings. */
const KINDS: readonly (readonly [exitCode: number, kinds: readonly (abstract new (...args: never[]) => Error)[]])[] = [
  [ExitCode.notFound, [errors.NotFound, errors.NothingThere, errors.NoHome]],
  [ExitCode.conflict, [errors.Conflict, errors.Taken, errors.NotAllowed, errors.NotAcceptable, errors.NotModified]],
  [ExitCode.unavailable, [errors.Unavailable, errors.TooManyRequests]],
  [ExitCode.running, [errors.AlreadyRunning]],
  [
    ExitCode.usage,
    [errors.Invalid, errors.BadParameters, errors.BadRequest, errors.Unprocessable, errors.RefusedText, errors.TooLarge]
  ]
]

export function exitCodeOf(error: Error & { oclif?: { exit?: number } }): number {
  const failure = innermost(error)
  const [code] = KINDS.find(([, kinds]) => kinds.some(kind => failure instanceof kind)) ?? []
  if (code !== undefined) return code
  // A reason says which state of the record does not allow the change; without one, somebody lacks a right.
  if (failure instanceof errors.Forbidden && failure.reason !== undefined) return ExitCode.conflict
  if (failure instanceof errors.Failure) return ExitCode.failed
  return error.oclif?.exit === 2 ? ExitCode.usage : ExitCode.failed
}
