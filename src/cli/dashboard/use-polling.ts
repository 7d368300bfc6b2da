// Reads a source again and again, never twice at once. While the source does not answer, the last answer stays.
import { useEffect, useState } from 'react'

/** The longest pause in seconds between two tries while the source does not answer. */
const AWAY = 2

export interface Polling<T> {
  /** Names what is read: a new key forgets the last answer. Null reads nothing. */
  readonly key: string | null
  readonly read: () => Promise<T>
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
}

export function usePolling<T>({ key, read, interval, tick, first }: Polling<T>): Polled<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ key, value: first ?? null, error: null })
  // biome-ignore lint/correctness/useExhaustiveDependencies: `read` is a new function in every frame; `key` names it.
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
