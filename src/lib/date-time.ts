// Times as clients and sysadmins write them.

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i

/**
 * The instant of an ISO 8601 date, or date and time, of the years from 1970 to 9999; UTC where no zone is written.
 * Undefined when it is none, as 2026-02-30.
 */
export function parseDateTime(text: string): Date | undefined {
  const found = ISO.exec(text.trim())
  if (!found) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7)
    .map(part => Number(part ?? 0))
  const milliseconds = Number((found[7] ?? '').padEnd(3, '0').slice(0, 3))
  const offset = offsetMinutes(found[8])
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second, milliseconds))
  // A day or an hour that does not exist would be one of the next month or day.
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && minute < 60 && second < 60
  if (!exists || offset === undefined) return undefined
  const instant = new Date(date.getTime() - offset * 60_000)
  return instant.getUTCFullYear() >= 1970 && instant.getUTCFullYear() <= 9999 ? instant : undefined
}

function offsetMinutes(zone: string | undefined): number | undefined {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0')
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2))]
  if (hours > 14 || minutes > 59) return undefined
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}
