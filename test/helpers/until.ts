import { setTimeout as sleep } from 'node:timers/promises'

const LEAST_MS = 30_000
/** On a busy machine this many calls take longer, as everything else does; on a quiet one they take half a minute. */
const LEAST_TIMES = 2500

/** Calls `ask` repeatedly until the answer is truthy, and returns it. Throws after a time that only a fault takes. */
export async function until<T>(what: string, ask: () => Promise<T> | T): Promise<NonNullable<T>> {
  const limit = Date.now() + LEAST_MS
  for (let times = 1; ; times++) {
    const answer = await ask()
    if (answer) return answer
    if (Date.now() > limit && times >= LEAST_TIMES) throw new Error(`it never happened: ${what}`)
    await sleep(10)
  }
}
