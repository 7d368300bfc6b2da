// The rules for a user's attributes. They are the same for the API, commands and files.
import { config } from '../../../config.js'
import { BadParameters, Invalid } from '../../../errors.js'
import { pathProblem } from '../../../lib/path.js'
import { isLonger } from '../../../lib/text-line.js'
import { isAddress } from './emails.js'
import { UserBody, type UserChange } from './users.schema.js'

/**
 * Checks the given attributes. Throws Invalid for values that a user cannot have, BadParameters for `provider` without
 * `extern_uid` or the reverse.
 */
export function checkUser(values: UserChange): void {
  const errors = userProblems(values)
  if (Object.keys(errors).length > 0) throw new Invalid(errors)
  if ((values.provider === undefined) !== (values.extern_uid === undefined)) {
    // Not specified: the text of this error.
    throw new BadParameters('extern_uid, provider must be given together')
  }
}

/** Returns the problems of the given attributes: attribute -> texts. */
export function userProblems(values: UserChange): Record<string, string[]> {
  const errors: Record<string, string[]> = {}
  for (const [name, value] of Object.entries(values)) {
    const problem = value === undefined ? null : (limitProblem(name, value) ?? problemOf(name, String(value)))
    if (problem) errors[name] = [problem]
  }
  return errors
}

/** Checks the limits of the schema, for values that did not come through the API. */
function limitProblem(name: string, value: unknown): string | null {
  const limits = UserBody.properties[name as keyof UserBody] as { maxLength?: number; maximum?: number } | undefined
  if (typeof value === 'string' && limits?.maxLength !== undefined && isLonger(value, limits.maxLength)) {
    return `is too long (maximum is ${limits.maxLength} characters)`
  }
  if (typeof value === 'number' && value < 0) return 'must be greater than or equal to 0'
  if (typeof value === 'number' && limits?.maximum !== undefined && value > limits.maximum) {
    return `must be less than or equal to ${limits.maximum}`
  }
  return null
}

function problemOf(name: string, value: string): string | null {
  switch (name) {
    case 'password':
      return lengthProblem(value)
    case 'email':
      return isAddress(value) ? null : 'is invalid'
    case 'name':
      if (value.trim() === '') return "can't be blank"
      // Not specified: a name has only one line, because mails, commits and terminals show it on one line.
      return /\p{Cc}/u.test(value) ? 'is invalid' : null
    case 'username':
      return pathProblem(value, 'namespace')
    case 'provider':
    case 'extern_uid':
      if (value.trim() === '') return "can't be blank"
      return value.endsWith(' ') ? 'must not end with a space' : null
    default:
      return null
  }
}

function lengthProblem(password: string): string | null {
  const { min_length: minimum } = config().identity.passwords
  return password.length < minimum ? `is too short (minimum is ${minimum} characters)` : null
}
