// Asks again and again, never twice at once. The last answer stays while the source is away.
import { useEffect, useState } from 'react'

/** Seconds between two tries while the source is away, at the most. */
const AWAY = 2

export interface Polling<T> {
  /** What is asked for: another key forgets the answer. Null asks nothing. */
  readonly key: string | null
  readonly read: () => Promise<T>
  /** Seconds. */
  readonly interval: number
  /** Another number asks at once. */
  readonly tick: number
  /** An answer that is there already. */
  readonly first?: T
}

export interface Polled<T> {
  readonly value: T | null
  readonly error: unknown
}

interface Answer<T> extends Polled<T> {
  readonly key: string | null
}

export function usePolling<T>({ key, read, interval, tick, first }: Polling<T>): Polled<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ key, value: first ?? null, error: null })
  // biome-ignore lint/correctness/useExhaustiveDependencies: `read` is another function in every frame, `key` names it.
  useEffect(() => {
    if (key === null) return
    let stopped = false
    let timer: NodeJS.Timeout
    const ask = async () => {
      let pause = interval
      try {
        const value = await read()
        if (!stopped) setAnswer({ key, value, error: null })
      } catch (error) {
        pause = Math.min(interval, AWAY)
        if (!stopped) setAnswer(last => ({ key, value: last.key === key ? last.value : null, error }))
      }
      if (!stopped) timer = setTimeout(ask, pause * 1000)
    }
    timer = setTimeout(ask, first !== undefined && tick === 0 ? interval * 1000 : 0)
    return () => {
      stopped = true
      clearTimeout(timer)
    }
  }, [key, interval, tick])
  return answer.key === key ? answer : { value: null, error: null }
}
