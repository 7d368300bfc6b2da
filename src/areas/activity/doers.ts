// Who made a change, as mail names them.
import type { Origin } from '../../access/actor.js'

export interface Doer {
  /** The user in whose name the change was made; null for a command, and for a link in a mail. */
  readonly id: number | null
  readonly name: string
  /** Somebody else than the user whom the change concerns made it, as only administrators may change accounts of others. */
  readonly foreign: boolean
}

/** Who makes a change; `userId` is the user whom it concerns, when that is one. */
export const doerOf = ({ asker, user, via }: Origin, userId?: number): Doer => ({
  id: asker?.id ?? null,
  name: asker?.name ?? 'An administrator',
  foreign: userId !== undefined && (user === null ? via === 'command' : user.id !== userId)
})
