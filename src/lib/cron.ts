// Times of a cron schedule, in UTC: `MINUTE HOUR DAY MONTH WEEKDAY`. Each field is `*`, `*/N`, or numbers and ranges
// separated by commas. node-cron fires at each time; this file computes which time was missed and which comes next.

const RANGES = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6]
] as const

const MINUTE = 60_000
const DAY = 24 * 60
/**
 * The search stops after this many minutes, because a schedule may specify a day that never comes, such as 30 February.
 * A 29 February on a certain weekday may take 40 years.
 */
const FURTHEST = 41 * 366 * DAY

/** Returns the first time of a schedule after `now`. Throws RangeError when the text is not a schedule. */
export const nextDue = (schedule: string, now: Date): Date => walk(schedule, now, 1)

/** Returns the last time of a schedule at or before `now`. Throws RangeError when the text is not a schedule. */
export const previousDue = (schedule: string, now: Date): Date => walk(schedule, now, -1)

function walk(schedule: string, now: Date, step: 1 | -1): Date {
  const fields = parse(schedule)
  const first = Math.floor(now.getTime() / MINUTE) + (step === 1 ? 1 : 0)
  for (let minute = first; Math.abs(minute - first) <= FURTHEST; ) {
    const time = new Date(minute * MINUTE)
    if (!isOnDay(fields, time)) {
      // The first minute of the next day, or the last one of the day before.
      const day = Math.floor(minute / DAY)
      minute = step === 1 ? (day + 1) * DAY : day * DAY - 1
      continue
    }
    if (isDue(fields, time)) return time
    minute += step
  }
  throw new RangeError(`this schedule never comes: ${schedule}`)
}

type Fields = readonly ReadonlySet<number>[]

const isDue = ([minutes, hours]: Fields, time: Date): boolean =>
  minutes?.has(time.getUTCMinutes()) === true && hours?.has(time.getUTCHours()) === true

const isOnDay = ([, , days, months, weekdays]: Fields, time: Date): boolean =>
  days?.has(time.getUTCDate()) === true &&
  months?.has(time.getUTCMonth() + 1) === true &&
  weekdays?.has(time.getUTCDay()) === true

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
