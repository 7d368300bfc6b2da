// How easy a password is to guess. The lists of common passwords, names and words need 80 MiB and 0.2 s, and a check takes up to
// 0.15 s, so both are left to a thread, which ends when nobody has asked for 30 seconds.
import { Unavailable } from '../../errors.js'
import { TaskThread } from '../task-thread.js'

export interface Strength {
  /** From 0, which a few guesses find, to 4: each step takes 100 to 10,000 times as many guesses (docs/operate/identity.md). */
  readonly score: number
  /** What makes it easy to guess, as a sentence. */
  readonly warning: string | null
}

export interface Asked {
  readonly password: string
  readonly personal: readonly string[]
}

const thread = new TaskThread<Asked, Strength>({
  program: new URL('thread.js', import.meta.url),
  longest: 10,
  tooLong: 'the password takes too long to check',
  busy: () => new Unavailable('Too many passwords are being checked', 5)
})

/**
 * Judges a password by its first 100 characters. `personal` are words of its owner, which are as easy to guess as common ones.
 * Throws Unavailable when too many passwords wait for their turn.
 */
export const strengthOf = (password: string, personal: readonly string[]): Promise<Strength> =>
  thread.run({ password: password.slice(0, MOST), personal: personal.map(word => word.slice(0, MOST)) })

const MOST = 100
