import { Failure, Invalid, NotFound, Unauthorized } from '../../errors.js'

/** What is wrong with the values of a form, by field; `base` is about the form as a whole. */
export type Refusals = Readonly<Record<string, string>>

/**
 * Returns why a rule refused the values of a form, so that the form can be shown again with everything that was entered. Throws the
 * error again when it is not about the values.
 */
export function refusalsOf(error: unknown): Refusals {
  if (error instanceof Invalid) {
    return Object.fromEntries(Object.entries(error.errors).map(([field, texts]) => [field, texts.join(', ')]))
  }
  if (error instanceof Failure && !(error instanceof NotFound) && !(error instanceof Unauthorized)) {
    return { base: error.message }
  }
  throw error
}
