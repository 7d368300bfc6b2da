// The effects of a ref change on the repository: it sets HEAD and schedules maintenance.
import { transact } from '../../../db/connect/transact.js'
import { setHead } from '../../../git/repository/repository.js'
import { enqueue } from '../../../queue/enqueue.js'
import type { Listener } from '../../ground/activity/listeners.js'
import { markOptimisation } from '../../projects/projects/project-columns.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { findSettledChange } from './ref-changes.queries.js'

/** Seconds from a push to the job that writes the commit graph. */
const OPTIMISE_AFTER = 10
const HOUR = 3_600_000

export const refEffects: Listener = {
  name: 'refs',
  on: { 'ref.changed': ({ event }) => applyRefChange(event.refChangeId) }
}

/** Applies the effects of a change. Does nothing when its project no longer exists. */
export async function applyRefChange(id: number): Promise<void> {
  const change = await findSettledChange(id)
  if (!change) return
  if (change.default_branch !== null && change.ref === `refs/heads/${change.default_branch}`) {
    await setHead(repositoryPath({ id: change.project_id, storage: change.storage }), change.default_branch)
  }
  await scheduleUpkeep(change.project_id, change.optimise_at)
}

/** Enqueues the job of the repository, unless one is already scheduled, as is usual for a busy project. */
async function scheduleUpkeep(projectId: number, scheduled: Date | null): Promise<void> {
  const now = new Date()
  const lost = new Date(now.getTime() - HOUR)
  if (scheduled !== null && scheduled >= lost) return
  await transact(async () => {
    const runAt = new Date(now.getTime() + OPTIMISE_AFTER * 1000)
    if (await markOptimisation(projectId, runAt, lost)) await enqueue('repository.optimise', { projectId }, { runAt })
  })
}
