// What hears of happenings. Listeners are put together where all areas are known (worker/listeners.ts).
import type { HappeningKind, Told, ToldOf } from './happenings.js'

export interface Listener {
  /** For the error of a job that failed. */
  readonly name: string
  /** What it does for the kinds that it hears. Runs again when any listener fails, so a second run must be harmless. */
  readonly on: { readonly [Kind in HappeningKind]?: (told: ToldOf<Kind>) => Promise<unknown> }
}

/** What is made of each kind of happening; null for a kind of which nothing is. One without a line does not compile. */
export type ByKind<Made> = {
  readonly [Kind in HappeningKind]: ((told: ToldOf<Kind>) => Made | null | Promise<Made | null>) | null
}

/** A listener that uses what the table makes of a happening, unless that is null. */
export function listenerBy<Made>(
  name: string,
  table: ByKind<Made>,
  use: (made: Made, told: Told) => Promise<unknown>
): Listener {
  const makers = Object.entries(table) as [HappeningKind, ((told: Told) => Made | null | Promise<Made | null>) | null][]
  const on = makers.flatMap(([kind, make]) => {
    if (!make) return []
    const hear = async (told: Told) => {
      const made = await make(told)
      if (made !== null) await use(made, told)
    }
    return [[kind, hear] as const]
  })
  return { name, on: Object.fromEntries(on) }
}
