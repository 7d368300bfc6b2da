// Measures how much slower this machine is now than the quiet machine for which the attacks have their time limits: it may be a
// slower machine, or other work may be running. Limits of memory and statuses apply anywhere.
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds that the calculation takes on the quiet machine. */
const QUIET_MS = 25
const STEPS = 20_000_000
const TIMES = 9
const REST_MS = 20

/** Returns how many times longer a calculation takes now, at least 1: the median of several, with rests between them. */
export async function slowness(): Promise<number> {
  const times: number[] = []
  for (let time = 0; time < TIMES; time++) {
    const began = performance.now()
    calculate()
    times.push(performance.now() - began)
    await sleep(REST_MS)
  }
  const [median = QUIET_MS] = times.toSorted((one, other) => one - other).slice(TIMES >> 1)
  return Math.max(1, median / QUIET_MS)
}

function calculate(): number {
  let number = 1
  for (let step = 0; step < STEPS; step++) number = (Math.imul(number, 1_664_525) + 1_013_904_223) | 0
  return number
}
