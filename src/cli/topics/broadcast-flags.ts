// The flags that describe a broadcast message, and the attributes that they set.

import { BadParameters } from '../../errors.js'
import { parseMoment } from '../../lib/moment.js'
import { readDuration } from '../input/duration.js'
import { Flags } from '../oclif.js'

export const broadcastFlags = {
  'starts-at': Flags.string({ description: 'start: a date, or a date and time (in UTC unless it has a time zone)' }),
  'ends-at': Flags.string({
    description: 'end: a date, or a date and time (in UTC unless it has a time zone)',
    exclusive: ['ends-in']
  }),
  'ends-in': Flags.string({ description: 'end: a duration such as 30m, 2h or 3d after --starts-at, or after now' }),
  color: Flags.string({ description: 'background color, as #RGB or #RRGGBB' }),
  font: Flags.string({ description: 'text color, as #RGB or #RRGGBB' })
}

interface Given {
  readonly 'starts-at'?: string
  readonly 'ends-at'?: string
  readonly 'ends-in'?: string
  readonly color?: string
  readonly font?: string
}

/**
 * Returns the attributes of a new message. By default it starts now and ends an hour later. Throws BadParameters when the
 * value of a flag is not valid.
 */
export function newBroadcastOf(flags: Given) {
  const starts = flags['starts-at'] ?? new Date().toISOString()
  const endless = flags['ends-at'] === undefined && flags['ends-in'] === undefined
  return broadcastOf({ ...flags, 'starts-at': starts, ...(endless ? { 'ends-in': '1h' } : {}) })
}

/** Returns the attributes that the given flags set. Throws BadParameters when the value of a flag is not valid. */
export function broadcastOf(flags: Given) {
  const starts = timeOf('--starts-at', flags['starts-at'])
  const ends = timeOf('--ends-at', flags['ends-at']) ?? endAfter(flags['ends-in'], starts)
  return {
    ...(starts ? { starts_at: starts.toISOString() } : {}),
    ...(ends ? { ends_at: ends.toISOString() } : {}),
    ...(flags.color === undefined ? {} : { color: flags.color }),
    ...(flags.font === undefined ? {} : { font: flags.font })
  }
}

function timeOf(flag: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const time = parseMoment(text)
  const year = time?.getUTCFullYear() ?? 0
  if (time && year >= 1970 && year <= 9999) return time
  const problem = `${flag} must be a date such as 2026-01-31, or a date and time such as 2026-01-31T20:00Z (it is ${JSON.stringify(text)})`
  throw new BadParameters(problem, problem)
}

function endAfter(text: string | undefined, starts = new Date()): Date | undefined {
  return text === undefined ? undefined : new Date(starts.getTime() + readDuration('--ends-in', text) * 1000)
}
