// The effects of a ref change on the repository: it sets HEAD and schedules maintenance.
import { transact } from '../../../db/connect/transact.js'
import { setHead } from '../../../git/repository/repository.js'
import { enqueue } from '../../../queue/enqueue.js'
import type { Listener } from '../../ground/activity/listeners.js'
import { markOptimisation } from '../../projects/projects/project-columns.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { type ChangeRow, findSettledChange } from './ref-changes.queries.js'

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
  await followDefaultBranch(change)
  await scheduleUpkeep(change, OPTIMISE_AFTER)
}

/** Sets HEAD after a change of the default branch. */
export async function followDefaultBranch({ project_id: id, storage, ref, default_branch }: ChangeRow): Promise<void> {
  if (default_branch === null || ref !== `refs/heads/${default_branch}`) return
  await setHead(repositoryPath({ id, storage }), default_branch)
}

/** Enqueues the job of the repository for some seconds later, unless one is already scheduled, as is usual for a busy project. */
export async function scheduleUpkeep(
  { project_id: projectId, optimise_at: scheduled }: ChangeRow,
  seconds: number
): Promise<void> {
  const now = new Date()
  const lost = new Date(now.getTime() - HOUR)
  if (scheduled !== null && scheduled >= lost) return
  await transact(async () => {
    const runAt = new Date(now.getTime() + seconds * 1000)
    if (await markOptimisation(projectId, runAt, lost)) await enqueue('repository.optimise', { projectId }, { runAt })
  })
}
