// Times of a cron schedule, in UTC: `MINUTE HOUR DAY MONTH WEEKDAY`. Each field is `*`, `*/N`, or numbers and ranges
// separated by commas. node-cron fires when a time comes; this file answers which time was missed and which comes next.

const RANGES = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6]
] as const

const MINUTE = 60_000
/**
 * The search stops after this many minutes, because a schedule may name a day that never comes, such as 30 February.
 */
const FURTHEST = 366 * 24 * 60

/** Returns the first time of a schedule after `now`. Throws RangeError when the text is not a schedule. */
export const nextDue = (schedule: string, now: Date): Date => walk(schedule, now, 1)

/** Returns the last time of a schedule at or before `now`. Throws RangeError when the text is not a schedule. */
export const previousDue = (schedule: string, now: Date): Date => walk(schedule, now, -1)

function walk(schedule: string, now: Date, step: 1 | -1): Date {
  const fields = parse(schedule)
  const minute = Math.floor(now.getTime() / MINUTE)
  for (let away = step === 1 ? 1 : 0; away <= FURTHEST; away++) {
    const time = new Date((minute + step * away) * MINUTE)
    if (isDue(fields, time)) return time
  }
  throw new RangeError(`this schedule never comes: ${schedule}`)
}

function isDue(fields: readonly ReadonlySet<number>[], time: Date): boolean {
  const values = [time.getUTCMinutes(), time.getUTCHours(), time.getUTCDate(), time.getUTCMonth() + 1, time.getUTCDay()]
  return values.every((value, at) => fields[at]?.has(value))
}

function parse(schedule: string): Set<number>[] {
  const texts = schedule.trim().split(/\s+/)
  if (texts.length !== RANGES.length) throw new RangeError(`not a schedule: ${schedule}`)
  return RANGES.map(
    ([first, last], at) => new Set((texts[at] ?? '').split(',').flatMap(part => span(part, first, last)))
  )
}

function span(part: string, first: number, last: number): number[] {
  const [, all, from, to, step = '1'] = /^(?:(\*)|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part) ?? []
  const [low, high] = all ? [first, last] : [Number(from), Number(to ?? from)]
  if (!(low >= first && high <= last && low <= high && Number(step) > 0)) {
    throw new RangeError(`not a part of a schedule: ${part}`)
  }
  const length = Math.floor((high - low) / Number(step)) + 1
  return Array.from({ length }, (_, index) => low + index * Number(step))
}
