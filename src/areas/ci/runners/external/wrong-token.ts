// Wrong tokens of runners and their builds count like all wrong tokens of an address.
import { Forbidden } from '../../../../errors.js'
import { countWrongToken } from '../../../people/credentials/login-throttle.js'

/** The answer to a token that belongs to no runner, no running build, or no place where a runner may register. */
export class WrongToken extends Forbidden {
  constructor(readonly counts = true) {
    super()
  }
}

/** Counts a wrong token. Throws TooManyRequests when there were too many from this address. Right tokens always work. */
export function countIfWrong(error: unknown, { address }: { readonly address: string }): void {
  if (error instanceof WrongToken && error.counts) countWrongToken(address)
}
