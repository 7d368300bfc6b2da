import { BadParameters } from '../../errors.js'
import { numbersIn } from './record-number.js'

/** Returns the jobs that a command changes: their numbers, or 'dead'. Throws BadParameters when both or neither are given. */
export function jobSelection(words: readonly string[], dead = false): number[] | 'dead' {
  const ids = numbersIn(words)
  if (ids === undefined || dead === ids.length > 0) {
    const text = 'give the numbers of jobs, or --dead for all dead jobs'
    throw new BadParameters(text, text)
  }
  return dead ? 'dead' : ids
}
