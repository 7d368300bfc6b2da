import { NoSuch, NotFound } from '../../errors.js'

/**
 * Looks up what an argument names. Throws NoSuch, which repeats the argument, where the rule throws NotFound: the rule
 * knows ids, and a person with ten arguments wants to know which of them was wrong.
 */
export async function orNotFound<T>(kind: string, name: string | number, find: () => Promise<T> | T): Promise<T> {
  try {
    return await find()
  } catch (error) {
    throw error instanceof NotFound ? new NoSuch(kind, name) : error
  }
}
