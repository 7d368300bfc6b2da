import { BadParameters } from '../errors.js'
import { numbersIn } from './record-number.js'

/** The jobs that a command is to change: by their numbers, or all dead ones. Throws BadParameters. */
export function jobSelection(words: readonly string[], dead = false): number[] | 'dead' {
  const ids = numbersIn(words)
  if (ids === undefined || dead === ids.length > 0) {
    const text = 'name jobs by their numbers, or all dead ones by --dead'
    throw new BadParameters(text, text)
  }
  return dead ? 'dead' : ids
}
