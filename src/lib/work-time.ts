// Durations of work, in the units that people plan with. Decided: a day has 8 hours, a week 5 days, a month 4 weeks.

const HOUR = 3600
const DAY = 8 * HOUR
const WEEK = 5 * DAY
const MONTH = 4 * WEEK

/** The largest number of seconds that fits a column and is still a realistic plan: about a hundred people for a hundred years. */
export const LONGEST_WORK = 2_000_000_000

const UNITS: readonly (readonly [short: string, seconds: number, names: string])[] = [
  ['mo', MONTH, 'mo mos mth mths month months'],
  ['w', WEEK, 'w wk wks week weeks'],
  ['d', DAY, 'd dy day days'],
  ['h', HOUR, 'h hr hrs hour hours'],
  ['m', 60, 'm min mins minute minutes']
]

const SECONDS = new Map(UNITS.flatMap(([, seconds, names]) => names.split(' ').map(name => [name, seconds] as const)))
const PART = /(\d{1,9}(?:\.\d{1,6})?)\s*([a-z]*)/g

/**
 * Returns the whole seconds of a text such as `3h30m` or `1 week 2 days`; a leading `-` makes them negative, and a bare
 * number means hours. Returns undefined for any other text, and for more than LONGEST_WORK.
 */
export function parseWork(text: string): number | undefined {
  if (text.length > 255) return undefined
  const words = text.trim().toLowerCase()
  const sign = words.startsWith('-') ? -1 : 1
  const rest = words.replace(/^[-+]/, '')
  if (/^\d{1,9}(\.\d{1,6})?$/.test(rest)) return within(sign * Math.round(Number(rest) * HOUR))
  const parts = [...rest.matchAll(PART)]
  if (parts.length === 0 || !/^[\s,]*$/.test(rest.replace(PART, ''))) return undefined
  let total = 0
  for (const [, count = '', unit = ''] of parts) {
    const seconds = SECONDS.get(unit)
    if (seconds === undefined) return undefined
    total += Number(count) * seconds
  }
  return within(sign * Math.round(total))
}

const within = (seconds: number) => (Math.abs(seconds) <= LONGEST_WORK ? seconds : undefined)

/** Writes seconds as `1mo 2w 3d 4h 5m`, without seconds and without units that are zero; null for nothing. */
export function writeWork(seconds: number): string | null {
  let rest = Math.abs(seconds)
  const parts: string[] = []
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
  }
  if (parts.length === 0) return null
  return `${seconds < 0 ? '-' : ''}${parts.join(' ')}`
}
