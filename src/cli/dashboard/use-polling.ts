// Reads a source periodically, never twice at the same time. While the source does not answer, the last answer stays.
import { useEffect, useState } from 'react'

/** The longest pause in seconds between two attempts while the source does not answer. */
const AWAY = 2
/** Reading may take a twentieth of the time: a slow read, such as a search, is repeated less often. */
const SHARE = 20
/** Milliseconds. A faster read is repeated at the interval that the user chose. */
const LONG = 200

export interface Reading<T> {
  /** Shows a partial result while there is no complete answer yet. */
  show(part: T): void
  /** Whether the answer is no longer needed. */
  stopped(): boolean
}

export interface Polling<T> {
  /** Identifies the query: a new key discards the last answer. Null reads nothing. */
  readonly key: string | null
  readonly read: (reading: Reading<T>) => Promise<T>
  /** Seconds. */
  readonly interval: number
  /** A new number triggers a read at once. */
  readonly tick: number
  /** An answer that the caller already has. */
  readonly first?: T
}

export interface Polled<T> {
  readonly value: T | null
  readonly error: unknown
}

interface Answer<T> extends Polled<T> {
  readonly key: string | null
  readonly whole: boolean
}

export function usePolling<T>({ key, read, interval, tick, first }: Polling<T>): Polled<T> {
  const whole = first !== undefined
  const [answer, setAnswer] = useState<Answer<T>>({ key, value: first ?? null, error: null, whole })
  // biome-ignore lint/correctness/useExhaustiveDependencies: `read` is a new function in every frame; `key` names it.
  useEffect(() => {
    if (key === null) return
    let over = false
    let timer: NodeJS.Timeout
    const reading: Reading<T> = {
      stopped: () => over,
      show: value => {
        if (!over)
          setAnswer(last => (last.key === key && last.whole ? last : { key, value, error: null, whole: false }))
      }
    }
    const ask = async () => {
      let pause = interval
      const started = performance.now()
      try {
        const value = await read(reading)
        const took = performance.now() - started
        if (took > LONG) pause = Math.max(interval, (took * SHARE) / 1000)
        if (!over) setAnswer({ key, value, error: null, whole: true })
      } catch (error) {
        pause = Math.min(interval, AWAY)
        if (!over) setAnswer(last => ({ ...(last.key === key ? last : { key, value: null, whole: false }), error }))
      }
      if (!over) timer = setTimeout(ask, pause * 1000)
    }
    timer = setTimeout(ask, first !== undefined && tick === 0 ? interval * 1000 : 0)
    return () => {
      over = true
      clearTimeout(timer)
    }
  }, [key, interval, tick])
  return answer.key === key ? answer : { value: null, error: null }
}
