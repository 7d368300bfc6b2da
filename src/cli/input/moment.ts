import { BadParameters } from '../../errors.js'
import { parseDuration } from '../../lib/duration.js'
import { parseMoment } from '../../lib/moment.js'

/** Reads a moment from a flag such as `--since`: a date, a date with a time, or how long ago. Throws BadParameters for any other text. */
export function readMoment(flag: string, text: string): Date {
  const moment = parseMoment(text)
  if (moment) return moment
  // A number without a unit would mean seconds. Nobody wants that, so we reject it.
  const seconds = /^\s*\d+\s*$/.test(text) ? undefined : parseDuration(text)
  if (seconds !== undefined) return new Date(Date.now() - seconds * 1000)
  const problem = `${flag} must be a date such as 2026-01-31, a date and time, or how long ago such as 2d (it is ${JSON.stringify(text)})`
  throw new BadParameters(problem, problem)
}
