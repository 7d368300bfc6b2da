import { NoSuch, NotFound } from '../../errors.js'

/**
 * Looks up the record that an argument names. Turns NotFound of a rule into NoSuch, whose message repeats the argument: a
 * person who gave ten arguments wants to know which one was wrong.
 */
export async function orNotFound<T>(kind: string, name: string | number, find: () => Promise<T> | T): Promise<T> {
  try {
    return await find()
  } catch (error) {
    throw error instanceof NotFound ? new NoSuch(kind, name) : error
  }
}
