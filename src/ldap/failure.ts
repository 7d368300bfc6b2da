import { Failure } from '../errors.js'

/** The steps of a question to a directory, in their order. */
export type Step = 'connect' | 'tls' | 'bind' | 'search' | 'sign-in'

/** A directory that is away or refuses. The message is for sysadmins, as is `remedy`, which says what to do about it. */
export class DirectoryFailure extends Failure {
  constructor(
    readonly directory: string,
    readonly step: Step,
    text: string,
    readonly remedy: string,
    /** Whether everybody would fail now, and not only with this question. */
    readonly isAway: boolean
  ) {
    super(`${directory}: ${text}`)
  }
}
