// Records are named by their numbers.
import { Args } from '@oclif/core'
import { BadParameters } from '../errors.js'

/** The number in a word; undefined where there is none that a record can have. */
const numberIn = (word: string): number | undefined => (/^[1-9]\d{0,14}$/.test(word) ? Number(word) : undefined)

/** Different numbers; undefined where a word is none. */
export function numbersIn(words: readonly string[]): number[] | undefined {
  const numbers = words.map(numberIn).filter(number => number !== undefined)
  return numbers.length === words.length ? [...new Set(numbers)] : undefined
}

/** A required argument; oclif's own integers call a wrong one a failure of the command. */
export const recordNumber = (description: string) =>
  Args.custom<number>({
    description,
    parse: async word => {
      const number = numberIn(word)
      const text = `a number from 1 is expected (it is ${JSON.stringify(word)})`
      if (number === undefined) throw new BadParameters(text, text)
      return number
    }
  })({ required: true })
