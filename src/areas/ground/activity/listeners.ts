// Listeners react to published events in a job. src/listeners.ts has all of them.
import { NotHere } from '../../../errors.js'
import type { EventKind, Published, PublishedEvent } from './events.js'

export interface Listener {
  /** Appears in the error of a failed job. */
  readonly name: string
  /** A function for each kind. It runs again when any listener fails, so a second run must be harmless. */
  readonly on: { readonly [Kind in EventKind]?: (published: Published<Kind>) => Promise<unknown> }
}

/** Makes a value from each kind of event; null for kinds that it ignores. It compiles only with all kinds. */
export type ByKind<Made> = {
  readonly [Kind in EventKind]: ((published: Published<Kind>) => Made | null | Promise<Made | null>) | null
}

/** Returns a listener that calls `use` with the value that `table` makes of an event, unless the value is null. */
export function listenerBy<Made>(
  name: string,
  table: ByKind<Made>,
  use: (made: Made, published: PublishedEvent) => Promise<unknown>
): Listener {
  const makers = Object.entries(table) as [
    EventKind,
    ((published: PublishedEvent) => Made | null | Promise<Made | null>) | null
  ][]
  const on = makers.flatMap(([kind, make]) => {
    if (!make) return []
    const receive = async (published: PublishedEvent) => {
      const made = await make(published)
      if (made !== null) await use(made, published)
    }
    return [[kind, receive] as const]
  })
  return { name, on: Object.fromEntries(on) }
}

/**
 * Passes an event to all its listeners at the same time: one that fails does not stop the others. Throws when any
 * failed, so that the job runs again; the listeners that succeeded do nothing then. Throws for an event without
 * listeners: a newer version published it, and its job waits for that version. When all failures are NotHere, it throws the first of
 * them: the job goes to the machine of the repository.
 */
export async function notifyListeners(all: readonly Listener[], published: PublishedEvent): Promise<void> {
  const { kind } = published.event
  const listeners = all.filter(({ on }) => Object.hasOwn(on, kind))
  if (listeners.length === 0) throw new Error(`nobody listens to ${kind}`)
  const results = await Promise.allSettled(listeners.map(listener => pass(listener, published)))
  const failures = results.flatMap((result, at) =>
    result.status === 'rejected' ? [{ name: listeners[at]?.name, error: result.reason as unknown }] : []
  )
  const [first] = failures
  if (!first) return
  if (failures.every(({ error }) => error instanceof NotHere)) throw first.error
  throw new Error(failures.map(({ name, error }) => `${name}: ${describe(error)}`).join('\n'))
}

async function pass({ on }: Listener, published: PublishedEvent): Promise<void> {
  await (on[published.event.kind] as ((published: PublishedEvent) => Promise<unknown>) | undefined)?.(published)
}

const describe = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error))
