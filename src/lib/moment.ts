// Parses a point in time as people and programs write it.

const DATE_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s?(Z|[+-]\d\d:?\d\d)?)?$/i

/**
 * Returns the moment of an ISO 8601 date or date-time, in UTC when the text names no zone; a date means its first
 * moment. Returns undefined for any other text, and for days that do not exist in the calendar.
 */
export function parseMoment(text: string): Date | undefined {
  const [, date, time = '00:00', zone = 'Z'] = DATE_TIME.exec(text.trim()) ?? []
  if (date === undefined) return undefined
  // JavaScript reads 30 February as a day in March.
  if (!isDay(date)) return undefined
  const moment = new Date(`${date}T${time}${zone.toUpperCase().replace(/^([+-]\d\d):?(\d\d)$/, '$1:$2')}`)
  return Number.isNaN(moment.getTime()) ? undefined : moment
}

function isDay(date: string): boolean {
  const day = new Date(`${date}T00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date)
}
