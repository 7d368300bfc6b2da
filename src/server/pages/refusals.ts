import { Failure, Invalid, NotFound, NotHere, Unauthorized } from '../../errors.js'

/** What is wrong with the values of a form, by field; `base` is about the form as a whole. */
export type Refusals = Readonly<Record<string, string>>

/**
 * Returns why a rule refused the values of a form, so that the form can be shown again with everything that was entered. Throws the
 * error again when it is not about the values, or when the request has to be made elsewhere.
 */
export function refusalsOf(error: unknown): Refusals {
  if (error instanceof Invalid) {
    return Object.fromEntries(Object.entries(error.errors).map(([field, texts]) => [field, texts.join(', ')]))
  }
  if (!(error instanceof Failure) || [NotFound, NotHere, Unauthorized].some(kind => error instanceof kind)) throw error
  return { base: error.message }
}
