import { BadParameters } from '../errors.js'
import { readDuration } from './duration.js'

const DAY = 86_400

/**
 * The day on which a token ends, of `--expires-in` or `--expires-at`: it ends as that day begins in UTC, so a time is
 * rounded up to a whole day. Undefined for one without an end. Throws BadParameters for a time of less than a day.
 */
export function tokenEnd({ within, at }: { within?: string; at?: string }): string | undefined {
  if (at !== undefined && !/^\d{4}-\d\d-\d\d$/.test(at))
    throw problem('--expires-at must be a day such as 2027-12-31', at)
  if (within === undefined) return at
  const seconds = readDuration('--expires-in', within)
  if (seconds < DAY) throw problem('--expires-in must be a day at least, as tokens end when a day begins', within)
  const days = Math.ceil((Date.now() / 1000 + seconds) / DAY)
  return new Date(days * DAY * 1000).toISOString().slice(0, 10)
}

function problem(what: string, given: string): BadParameters {
  const text = `${what} (it is ${JSON.stringify(given)})`
  return new BadParameters(text, text)
}
