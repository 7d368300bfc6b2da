// Reads a source again and again, never twice at once. While the source does not answer, the last answer stays.
import { useEffect, useState } from 'react'

/** The longest pause in seconds between two tries while the source does not answer. */
const AWAY = 2
/** A reading may take a twentieth of the time: one that takes long, such as a search, is repeated more rarely. */
const SHARE = 20
/** Milliseconds. A reading that takes less is repeated as often as the user wants it. */
const LONG = 200

export interface Reading<T> {
  /** Shows what was read so far, if there is no whole answer yet. */
  show(part: T): void
  /** Whether nobody waits for the answer any more. */
  stopped(): boolean
}

export interface Polling<T> {
  /** Names what is read: a new key forgets the last answer. Null reads nothing. */
  readonly key: string | null
  readonly read: (reading: Reading<T>) => Promise<T>
  /** Seconds. */
  readonly interval: number
  /** A new number reads at once. */
  readonly tick: number
  /** An answer that the caller has already. */
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
