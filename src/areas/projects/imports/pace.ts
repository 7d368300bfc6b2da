// When the next request may start: at most so many in a second, and none before the time that the source names.
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds. A source that asks for more time than this does not want to be read. */
const LONGEST_WAIT = 2 * 3_600_000

export interface Pace {
  /** Waits for the turn of the next request. */
  turn(): Promise<void>
  /** No request starts in the next `milliseconds`. */
  rest(milliseconds: number): void
}

export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>

const sleepFor: Sleep = (milliseconds, signal) => sleep(milliseconds, undefined, { signal })

export function newPace(perSecond: number, signal: AbortSignal, wait: Sleep = sleepFor): Pace {
  let next = 0
  return {
    turn: async () => {
      signal.throwIfAborted()
      const now = Date.now()
      const start = Math.max(now, next)
      next = start + 1000 / perSecond
      if (start - now >= 1) await wait(start - now, signal)
    },
    rest: milliseconds => {
      next = Math.max(next, Date.now() + milliseconds)
    }
  }
}

/** Returns for how many milliseconds the source asks not to be asked again; null when it does not say, or asks for too long. */
export function restOf(status: number, headers: { readonly [name: string]: string }): number | null {
  const wait = asked(status, headers)
  return wait === null || wait > LONGEST_WAIT ? null : Math.max(0, wait)
}

function asked(status: number, headers: { readonly [name: string]: string }): number | null {
  const after = headers['retry-after']
  if (after !== undefined && status !== 200) {
    if (/^\d{1,9}$/.test(after)) return Number(after) * 1000
    const until = Date.parse(after)
    return Number.isNaN(until) ? null : until - Date.now()
  }
  const left = headers['x-ratelimit-remaining'] ?? headers['ratelimit-remaining']
  const reset = headers['x-ratelimit-reset'] ?? headers['ratelimit-reset']
  if (left !== '0' || reset === undefined || !/^\d{1,12}$/.test(reset)) return null
  // GitHub and GitLab send the time of the reset in seconds since 1970. The draft standard sends the seconds until then.
  const seconds = Number(reset)
  return seconds > 1_000_000_000 ? seconds * 1000 - Date.now() + 1000 : seconds * 1000
}
