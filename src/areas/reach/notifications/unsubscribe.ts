// Unsubscribes users by one click in a mail.
import { row } from '../../../db/connect/sql.js'
import { NotFound } from '../../../errors.js'
import { setSubscription } from '../../planning/participation/subscriptions.js'
import { TARGET_TABLES } from '../../planning/participation/targets.js'
import type { LinkValues } from '../mail/links.js'
import { leavePipelines, saveSetting } from './settings.js'

/**
 * Ends the mail about an issue, a merge request, or the pipelines of a project; for other mail, all mail about the project, because
 * a smaller change would leave some of it. Does nothing for users, targets and projects that no longer exist.
 */
export async function unsubscribe({ userId, projectId, target, pipelines }: LinkValues['unsubscribe']): Promise<void> {
  if (!(await row('select id from users where id = ?', [userId]))) return
  if (pipelines) return leavePipelines(projectId, userId).catch(ifThere)
  if (!target) {
    return saveSetting({ type: 'Project', id: projectId }, userId, { level: 'disabled' }).catch(ifThere)
  }
  if (!(await row(`select id from ${TARGET_TABLES[target.type]} where id = ?`, [target.id]))) return
  await setSubscription({ ...target, projectId }, userId, false)
}

function ifThere(error: unknown): void {
  if (!(error instanceof NotFound)) throw error
}
