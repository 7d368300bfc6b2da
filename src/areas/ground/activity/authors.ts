// The author of a change, as mail names them.
import type { Origin } from '../../../access/actor.js'

export interface Doer {
  /** The user in whose name the change was made; null for a command and for a link in a mail. */
  readonly id: number | null
  readonly name: string
  /** True when somebody other than the affected user made the change. Only administrators can do that. */
  readonly foreign: boolean
}

/** Returns the author of a change. `userId` is the user whom the change affects, if it affects one. */
export const doerOf = ({ asker, user, via }: Origin, userId?: number): Doer => ({
  id: asker?.id ?? null,
  name: asker?.name ?? 'An administrator',
  foreign: userId !== undefined && (user === null ? via === 'command' : user.id !== userId)
})
