// What every change of a second factor leaves behind: a row in the audit, and a mail to the owner.
import type { Origin } from '../../../access/actor.js'
import type { FactorChange } from '../../ground/activity/account-events.js'
import { doerOf } from '../../ground/activity/authors.js'
import { publish } from '../../ground/activity/events.js'
import { audit, type Changes } from '../../ground/audit/audit.js'

/** The user whose factors they are. */
export interface Owner {
  readonly id: number
  readonly username: string
}

interface Change {
  readonly owner: Owner
  /** The action in the audit. */
  readonly action: string
  readonly changes?: Changes
  readonly mail?: FactorChange
}

/** Records a change. Call it in its transaction. */
export async function recordChange({ owner, action, changes, mail }: Change, origin: Origin): Promise<void> {
  await audit(origin, {
    action,
    target: { type: 'user', id: owner.id, name: owner.username },
    ...(changes && { changes })
  })
  if (mail)
    await publish({ kind: 'second_factor.changed', userId: owner.id, change: mail, by: doerOf(origin, owner.id) })
}
