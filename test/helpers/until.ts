import { setTimeout as sleep } from 'node:timers/promises'

/** Asks again until the answer is truthy, and gives it; throws after a time that only a fault takes. */
export async function until<T>(what: string, ask: () => Promise<T> | T, seconds = 30): Promise<NonNullable<T>> {
  const limit = Date.now() + seconds * 1000
  for (;;) {
    const answer = await ask()
    if (answer) return answer
    if (Date.now() > limit) throw new Error(`it never happened: ${what}`)
    await sleep(10)
  }
}
