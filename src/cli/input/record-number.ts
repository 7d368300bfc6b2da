// Reads the numbers (ids) by which commands name records.

import { BadParameters } from '../../errors.js'
import { Args, Flags } from '../oclif.js'

/** The number that a word spells; undefined when no record can have it. */
const numberIn = (word: string): number | undefined => (/^[1-9]\d{0,14}$/.test(word) ? Number(word) : undefined)

/** The numbers that the words spell, each once; undefined when a word is not the number of a record. */
export function numbersIn(words: readonly string[]): number[] | undefined {
  const numbers = words.map(numberIn).filter(number => number !== undefined)
  return numbers.length === words.length ? [...new Set(numbers)] : undefined
}

/**
 * A required argument: the number of a record. A wrong number is an error of usage (exit code 2); oclif's own integer
 * argument would report it as a failed command.
 */
export const recordNumber = (description: string) =>
  Args.custom<number>({ description, parse: async word => requireNumber(word) })({ required: true })

/** Like `recordNumber`, for a flag that may be left away. */
export const recordNumberFlag = (description: string) =>
  Flags.custom<number>({ description, parse: async word => requireNumber(word) })()

/** Like `recordNumber`, for a command that takes several. `requireNumbers` reads them. */
export const recordNumbers = (description: string) => recordNumber(`${description}; you can give several`)

/** The numbers that the words of a command spell, each once. Throws BadParameters, which names the wrong word. */
export function requireNumbers(words: readonly unknown[]): number[] {
  return [...new Set(words.map(word => requireNumber(String(word))))]
}

function requireNumber(word: string): number {
  const number = numberIn(word)
  const text = `expected a number of at least 1 (it is ${JSON.stringify(word)})`
  if (number === undefined) throw new BadParameters(text, text)
  return number
}
