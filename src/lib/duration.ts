// Durations as people write them: in a CI file, and after --ends-in and --expires-in.

const DAY = 86_400
const UNIT_SECONDS = new Map<string, number>()
for (const [seconds, names] of [
  [1, 's sec secs second seconds'],
  [60, 'm min mins minute minutes'],
  [3600, 'h hr hrs hour hours'],
  [DAY, 'd dy day days'],
  [7 * DAY, 'w wk wks week weeks'],
  [30 * DAY, 'mo mos mth mths month months'],
  [365.25 * DAY, 'y yr yrs year years']
] as const) {
  for (const name of names.split(' ')) UNIT_SECONDS.set(name, seconds)
}

// Not specified: the longest duration. A date a thousand years ahead still fits every column that may store it.
const LONGEST = 1000 * 365.25 * DAY

/**
 * Returns the whole seconds of a text such as `3 mins 4 sec`, `2h20min` or `3 weeks and 2 days`; a bare number means seconds. A
 * month has 30 days, a year 365.25. Returns undefined when the text is not a duration or is longer than a thousand years.
 */
export function parseDuration(text: string): number | undefined {
  if (text.length > 255) return undefined
  const words = text.trim().toLowerCase()
  if (/^\d{1,12}$/.test(words)) return within(Number(words))
  const parts = [...words.matchAll(/(\d{1,12}(?:\.\d{1,6})?)\s*([a-z]+)/g)]
  const rest = words.replace(/\d{1,12}(?:\.\d{1,6})?\s*[a-z]+/g, ' ')
  if (parts.length === 0) return undefined
  let total = 0
  for (const [, count = '', written = ''] of parts) {
    const seconds = UNIT_SECONDS.get(written)
    if (seconds === undefined) return undefined
    total += Number(count) * seconds
  }
  return /^(?:\s|,|\band\b)*$/.test(rest) ? within(Math.round(total)) : undefined
}

const within = (seconds: number) => (seconds <= LONGEST ? seconds : undefined)
