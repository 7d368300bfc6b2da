// Unsubscribes users by one click in a mail.
import { row } from '../../../db/connect/sql.js'
import { NotFound } from '../../../errors.js'
import { setSubscription } from '../../planning/participation/subscriptions.js'
import { TARGET_TABLES, type Target } from '../../planning/participation/targets.js'
import { saveSetting } from './settings.js'

/** A user who wants no more mail about an issue or a merge request, or else about a whole project. */
export type Unsubscription = { readonly userId: number } & (
  | { readonly target: Target }
  | { readonly projectId: number }
)

/**
 * Ends the mail about an issue or merge request; without one, all mail about the project, because a smaller change would leave
 * some of it. Does nothing for users, targets and projects that no longer exist.
 */
export async function unsubscribe(what: Unsubscription): Promise<void> {
  if (!(await row('select id from users where id = ?', [what.userId]))) return
  if (!('target' in what)) {
    await saveSetting({ type: 'Project', id: what.projectId }, what.userId, { level: 'disabled' }).catch(ifThere)
    return
  }
  const { target } = what
  if (!(await row(`select id from ${TARGET_TABLES[target.type]} where id = ?`, [target.id]))) return
  await setSubscription(target, what.userId, false)
}

function ifThere(error: unknown): void {
  if (!(error instanceof NotFound)) throw error
}
