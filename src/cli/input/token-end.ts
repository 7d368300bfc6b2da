import { BadParameters } from '../../errors.js'
import { readDuration } from './duration.js'

const DAY = 86_400

/**
 * Returns the day on which a token expires, from `--expires-in` or `--expires-at`; undefined for a token that never expires.
 * The token expires when that day begins in UTC, so a duration is rounded up to whole days. Throws BadParameters when the
 * day is not valid or the duration is shorter than a day.
 */
export function tokenEnd({ within, at }: { within?: string; at?: string }): string | undefined {
  if (at !== undefined && !/^\d{4}-\d\d-\d\d$/.test(at))
    throw problem('--expires-at must be a day such as 2027-12-31', at)
  if (within === undefined) return at
  const seconds = readDuration('--expires-in', within)
  if (seconds < DAY)
    throw problem('--expires-in must be at least one day, because tokens expire at the start of a day', within)
  const days = Math.ceil((Date.now() / 1000 + seconds) / DAY)
  return new Date(days * DAY * 1000).toISOString().slice(0, 10)
}

function problem(what: string, given: string): BadParameters {
  const text = `${what} (it is ${JSON.stringify(given)})`
  return new BadParameters(text, text)
}
