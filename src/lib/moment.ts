// Points in time: in the formats of people and programs, and within the range that the database, clients and views can show.

const DATE_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s?(Z|[+-]\d\d:?\d\d)?)?$/i

/**
 * Returns the time of an ISO 8601 date or date-time, in UTC when the text has no time zone; a date means its first
 * moment. Returns undefined for any other text, and for days that do not exist in the calendar.
 */
export function parseMoment(text: string): Date | undefined {
  const [, date, time = '00:00', zone = 'Z'] = DATE_TIME.exec(text.trim()) ?? []
  if (date === undefined) return undefined
  // JavaScript reads 30 February as a day in March.
  if (!isDay(date)) return undefined
  const moment = new Date(`${date}T${time}${zone.toUpperCase().replace(/^([+-]\d\d):?(\d\d)$/, '$1:$2')}`)
  return isShowable(moment) ? moment : undefined
}

/** The driver of the database reads the years before as those of the twentieth century. */
const EARLIEST = Date.parse('0100-01-01T00:00:00.000Z')
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Returns false for an invalid date, and for a date outside of the years 100 to 9999: a column of the database cannot
 * store and return it, and ISO 8601 has no usual format for it.
 */
export const isShowable = (moment: Date): boolean => moment.getTime() >= EARLIEST && moment.getTime() <= LATEST

/**
 * Converts the seconds since 1970 of a commit. Anybody may push any number: a time before 1970 or after the year 9999
 * becomes the first or last second of that range, and anything that is not a number becomes the first.
 */
export function momentOfSeconds(seconds: number): Date {
  const within = Math.min(Math.max(seconds, 0), Math.floor(LATEST / 1000))
  return new Date(Number.isNaN(within) ? 0 : within * 1000)
}

function isDay(date: string): boolean {
  const day = new Date(`${date}T00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date)
}
