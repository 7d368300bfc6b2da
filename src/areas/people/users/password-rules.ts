// The rules for passwords of this appliance: how hard a new one must be to guess, and which users have one.
import { config, publicUrl } from '../../../config.js'
import { Invalid } from '../../../errors.js'
import { strengthOf } from '../../../text/passwords/strength.js'
import { checkUser } from './user-rules.js'

/** What is known of the owner of a password. */
interface Owner {
  readonly username: string
  readonly name: string
  readonly email: string
}

/** A password needs so many letters and digits besides the words of its owner. */
const LEAST_REST = 4
const PERSONAL = 'is too easy to guess, because it consists of your name or address'

/** More words would make the check longer. */
const MOST_WORDS = 30

/**
 * Checks a password that a person chooses. Throws Invalid when it is too short or easy to guess, and Unavailable when too many
 * passwords are being checked.
 */
export async function checkChosenPassword(password: string, owner: Owner): Promise<void> {
  checkUser({ password })
  const { strength } = config().identity.passwords
  if (strength === 0) return
  const words = wordsOf(owner)
  if (restWithout(words, password).length < LEAST_REST) throw new Invalid('password', PERSONAL)
  const { score, warning } = await strengthOf(password, words)
  if (score >= strength) return
  throw new Invalid('password', `is too easy to guess${warning === null ? '' : `. ${warning.replace(/\.$/, '')}`}`)
}

/**
 * Returns whether passwords that administrators set for others must be hard to guess, too. Decided: only their length counts, unless
 * the configuration says otherwise, because clients of the API expect no more.
 */
export const checksGivenPasswords = (): boolean => config().identity.passwords.strength_for === 'everyone'

function wordsOf({ username, name, email }: Owner): string[] {
  const host = new URL(publicUrl()).hostname
  const whole = [username, name, email]
  const parts = [...whole, host].flatMap(text => text.split(/[^\p{L}\p{N}]+/u)).filter(part => part.length > 2)
  return [...new Set(['gitstead', ...whole, ...parts].map(word => word.toLowerCase()))].slice(0, MOST_WORDS)
}

const restWithout = (words: readonly string[], password: string): string =>
  [...words]
    .sort((one, other) => other.length - one.length)
    .reduce((rest, word) => rest.replaceAll(word, ''), password.slice(0, 100).toLowerCase())
    .replace(/[^\p{L}\p{N}]/gu, '')

/** Returns whether a user may sign in with a password of this appliance. */
export function hasLocalPassword(username: string): boolean {
  const { local, local_for: names } = config().identity.passwords
  return local || names.some(name => name.toLowerCase() === username.toLowerCase())
}

/** The answer to a right password of a user who may not use it. */
export const LOCAL_OFF = 'Passwords of this appliance are switched off: sign in with the account of your organization'
