// Reads the numbers (ids) that name records on the command line.

import { BadParameters } from '../../errors.js'
import { Args, Flags } from '../oclif.js'

/** Returns the number in a word; undefined when no record can have it. */
const numberIn = (word: string): number | undefined => (/^[1-9]\d{0,14}$/.test(word) ? Number(word) : undefined)

/** Returns the numbers in the words without duplicates; undefined when a word cannot be the number of a record. */
export function numbersIn(words: readonly string[]): number[] | undefined {
  const numbers = words.map(numberIn).filter(number => number !== undefined)
  return numbers.length === words.length ? [...new Set(numbers)] : undefined
}

/**
 * A required argument: the number of a record. A wrong number is a usage error (exit code 2); the integer argument of
 * oclif would report a failed command.
 */
export const recordNumber = (description: string) =>
  Args.custom<number>({ description, parse: async word => requireNumber(word) })({ required: true })

/** Like `recordNumber`, for an optional flag. */
export const recordNumberFlag = (description: string) =>
  Flags.custom<number>({ description, parse: async word => requireNumber(word) })()

/** Like `recordNumber`, for a command that takes several numbers. `requireNumbers` reads them. */
export const recordNumbers = (description: string) => recordNumber(`${description}; you can give several`)

/** Returns the numbers in the words of a command, without duplicates. Throws BadParameters, which names the wrong word. */
export function requireNumbers(words: readonly unknown[]): number[] {
  return [...new Set(words.map(word => requireNumber(String(word))))]
}

function requireNumber(word: string): number {
  const number = numberIn(word)
  const text = `expected a number of at least 1 (it is ${JSON.stringify(word)})`
  if (number === undefined) throw new BadParameters(text, text)
  return number
}
