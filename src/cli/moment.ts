import { BadParameters } from '../errors.js'
import { parseDuration } from '../lib/duration.js'
import { parseMoment } from '../lib/moment.js'

/** The moment of a flag such as `--since`: a date, a date-time, or how long ago. Throws BadParameters. */
export function readMoment(flag: string, text: string): Date {
  const moment = parseMoment(text)
  if (moment) return moment
  // A bare number would be seconds, which nobody means.
  const seconds = /^\s*\d+\s*$/.test(text) ? undefined : parseDuration(text)
  if (seconds !== undefined) return new Date(Date.now() - seconds * 1000)
  const problem = `${flag} must be a date such as 2026-01-31, a date-time, or a time ago such as 2d (it is ${JSON.stringify(text)})`
  throw new BadParameters(problem, problem)
}
