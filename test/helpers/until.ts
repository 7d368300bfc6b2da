import { setTimeout as sleep } from 'node:timers/promises'

/** Asks repeatedly until the answer is truthy, and returns it. Throws after `seconds`; only a fault takes so long. */
export async function until<T>(what: string, ask: () => Promise<T> | T, seconds = 30): Promise<NonNullable<T>> {
  const limit = Date.now() + seconds * 1000
  for (;;) {
    const answer = await ask()
    if (answer) return answer
    if (Date.now() > limit) throw new Error(`waited too long for: ${what}`)
    await sleep(10)
  }
}
