import { BadParameters } from '../errors.js'
import { parseDuration } from '../lib/duration.js'

/**
 * The seconds of a flag such as `--ends-in 2h`. Throws BadParameters where it is none: a number without a unit too, as
 * `--expires-in 90` would be over before somebody who meant days has read the answer.
 */
export function readDuration(flag: string, text: string): number {
  const seconds = /^\s*\d+\s*$/.test(text) ? undefined : parseDuration(text)
  if (seconds) return seconds
  const problem = `${flag} must be a time such as 30m, 2h or 90d (it is ${JSON.stringify(text)})`
  throw new BadParameters(problem, problem)
}
