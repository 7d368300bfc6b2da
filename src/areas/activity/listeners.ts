// The types of listeners. worker/listeners.ts builds the list of listeners, because it knows all areas.
import type { HappeningKind, Told, ToldOf } from './happenings.js'

export interface Listener {
  /** Appears in the error of a failed job. */
  readonly name: string
  /** A function for each kind. It runs again when any listener fails, so a second run must be harmless. */
  readonly on: { readonly [Kind in HappeningKind]?: (told: ToldOf<Kind>) => Promise<unknown> }
}

/** Makes a value of each kind of happening; null for kinds that it ignores. It compiles only with all kinds. */
export type ByKind<Made> = {
  readonly [Kind in HappeningKind]: ((told: ToldOf<Kind>) => Made | null | Promise<Made | null>) | null
}

/** Returns a listener that calls `use` with the value that `table` makes of a happening, unless the value is null. */
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
