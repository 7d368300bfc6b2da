// The slug of an environment is its name where only a few characters are allowed, as in host names.
import { randomInt } from 'node:crypto'

const LONGEST = 24
const SHORTENED = 17
const RANDOM = 6
const CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

/**
 * Makes the slug of a name. Decided: exactly the rule in "Environment" of the completions. A name that the slug does
 * not show in full gets a random ending, so that similar names have different slugs.
 */
export function slugOf(name: string): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '-')
  const slug = (/^[0-9]/.test(plain) ? `env-${plain}` : plain).slice(0, LONGEST).replace(/-$/, '')
  return slug === name ? slug : `${slug.slice(0, SHORTENED)}-${randomText()}`
}

const randomText = () => Array.from({ length: RANDOM }, () => CHARACTERS[randomInt(CHARACTERS.length)]).join('')
