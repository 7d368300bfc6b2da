import { BadParameters } from '../../errors.js'
import { parseDuration } from '../../lib/duration.js'

/**
 * Reads a duration from a flag such as `--ends-in 2h`. Returns seconds. Throws BadParameters when the text is not a
 * duration, or is a number without a unit: a user who types `--expires-in 90` means days, not seconds.
 */
export function readDuration(flag: string, text: string): number {
  const seconds = /^\s*\d+\s*$/.test(text) ? undefined : parseDuration(text)
  if (seconds) return seconds
  const problem = `${flag} must be a duration such as 30m, 2h or 90d (it is ${JSON.stringify(text)})`
  throw new BadParameters(problem, problem)
}
