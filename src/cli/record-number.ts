// Reads the numbers (ids) by which commands name records.
import { Args } from '@oclif/core'
import { BadParameters } from '../errors.js'

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
  Args.custom<number>({
    description,
    parse: async word => {
      const number = numberIn(word)
      const text = `expected a number of at least 1 (it is ${JSON.stringify(word)})`
      if (number === undefined) throw new BadParameters(text, text)
      return number
    }
  })({ required: true })
