// What happens is told once, in the transaction that brings it about. A rule says what happened, and does not know who
// listens: one job hands each happening to all listeners (worker/listeners.ts).
import { randomUUID } from 'node:crypto'
import { enqueueAll } from '../../queue/enqueue.js'
import type { ProjectSnapshot } from './project-snapshots.js'
import type { KeySnapshot, UserSnapshot } from './snapshots.js'

/**
 * Small records travel as they are at that moment, as the row may be changed or gone when somebody hears of it. Large ones
 * travel by their number.
 */
export type Happening =
  | { readonly kind: 'user.created'; readonly user: UserSnapshot }
  | { readonly kind: 'user.deleted'; readonly user: UserSnapshot }
  | { readonly kind: 'key.added'; readonly key: KeySnapshot }
  | { readonly kind: 'key.removed'; readonly key: KeySnapshot }
  | { readonly kind: 'project.created'; readonly project: ProjectSnapshot; readonly by: number }
  /** The project came back out of a backup. */
  | { readonly kind: 'project.restored'; readonly project: ProjectSnapshot }
  | {
      readonly kind: 'project.renamed'
      readonly project: ProjectSnapshot
      readonly old_path_with_namespace: string
    }
  | { readonly kind: 'project.deleted'; readonly project: ProjectSnapshot }
  /** A branch, a tag or another ref has moved, is new or gone. */
  | { readonly kind: 'ref.changed'; readonly refChangeId: number }

export type HappeningKind = Happening['kind']

/** A value as JSON keeps it: a moment is its ISO 8601 text. */
export type Stored<T> = T extends Date ? string : T extends object ? { [Key in keyof T]: Stored<T[Key]> } : T

/** A happening as listeners get it. */
export interface Told {
  /** Its own, and the same however often it is heard. */
  readonly id: string
  /** When it happened. */
  readonly at: string
  readonly happening: Stored<Happening>
}

export type ToldOf<Kind extends HappeningKind> = Told & {
  readonly happening: Extract<Stored<Happening>, { readonly kind: Kind }>
}

/** What is made of each kind of happening; null for a kind of which nothing ever is. A kind without a line does not compile. */
export type ByKind<Result> = {
  readonly [Kind in HappeningKind]: ((told: ToldOf<Kind>) => Result | null | Promise<Result | null>) | null
}

/** Makes of a happening what the table says. Throws for a kind of a newer version: its job waits for that version. */
export async function makeOf<Result>(table: ByKind<Result>, told: Told): Promise<Result | null> {
  const { kind } = told.happening
  if (!Object.hasOwn(table, kind)) throw new Error(`this version knows no happening ${kind}`)
  const make = table[kind] as ((told: Told) => Result | null | Promise<Result | null>) | null
  return make ? make(told) : null
}

export interface Listener {
  /** For the error of a job that failed. */
  readonly name: string
  /** Does its part. Runs again when any listener fails, so a second run must be harmless. */
  readonly hear: (told: Told) => Promise<void>
}

/** People wait for what a push brings about; an import of users tells 100,000 happenings at once. */
const URGENT = { kinds: new Set<HappeningKind>(['ref.changed']), priority: 50 }

/** Tells a happening; call it in the transaction of the change. */
export const tell = (happening: Happening): Promise<void> => tellAll([happening])

/** Tells many happenings, by one statement for every 500. */
export async function tellAll(happenings: readonly Happening[]): Promise<void> {
  const at = new Date().toISOString()
  const isUrgent = ({ kind }: Happening) => URGENT.kinds.has(kind)
  const jobOf = (happening: Happening) => ({ id: randomUUID(), at, happening })
  await enqueueAll('happening.told', happenings.filter(isUrgent).map(jobOf), { priority: URGENT.priority })
  await enqueueAll('happening.told', happenings.filter(happening => !isUrgent(happening)).map(jobOf))
}
