// Days of plans: due dates, and the days on which milestones start.
import { BadParameters } from '../../../errors.js'
import { parseMoment } from '../../../lib/moment.js'

/** Reads a day as YYYY-MM-DD: null for an empty text, undefined when the value is absent. Throws BadParameters. */
export function readDay(name: string, text: string | null | undefined): string | null | undefined {
  if (text === undefined || text === null || text === '') return text === undefined ? undefined : null
  const moment = parseMoment(text)
  if (!moment) throw new BadParameters(`${name} is invalid`)
  return moment.toISOString().slice(0, 10)
}
