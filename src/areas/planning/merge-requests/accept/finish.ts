// What a merge brings about once the target branch has moved: all of it, exactly once.
import { actorOf, originOf } from '../../../../access/actor.js'
import { may } from '../../../../access/authorize.js'
import { execute, row } from '../../../../db/connect/sql.js'
import { transact } from '../../../../db/connect/transact.js'
import { BadRequest, NotAllowed, NotFound } from '../../../../errors.js'
import { RefMoved, refValue, ZERO } from '../../../../git/refs/refs.js'
import { log } from '../../../../log.js'
import { enqueue } from '../../../../queue/enqueue.js'
import { moveRefs } from '../../../code/refs/move-refs.js'
import { findProtections } from '../../../code/refs/protected-branches.queries.js'
import { findSudoUser } from '../../../people/credentials/credentials.js'
import { findProject } from '../../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../../projects/projects/repositories.js'
import { closeIssuesOf } from '../closing.js'
import { publishMergeRequest } from '../events.js'
import { findMergeRequest, type MergeRequestRow } from '../merge-requests.queries.js'

export interface FinishedMerge {
  readonly id: number
  /** The commit of the merge; null when a push brought the changes. */
  readonly commit: string | null
  readonly userId: number | null
  readonly removeSourceBranch: boolean
}

/** Milliseconds until a job repeats what follows a merge, unless this process has done it. */
const AGAIN_MS = 3000

/** Marks a merge request as merged. Returns false when somebody else has done so. */
export async function markMerged({ id, commit, userId, removeSourceBranch }: FinishedMerge): Promise<boolean> {
  const now = new Date()
  return transact(async () => {
    const before = await row<{ merge_when_build_succeeds: number }>(
      'select merge_when_build_succeeds from merge_requests where id = ? for update',
      [id]
    )
    // Closed a moment ago, it is merged all the same: the branch has its changes.
    const { affectedRows } = await execute(
      `update merge_requests set state = 'merged', merge_status = 'can_be_merged', merge_commit_sha = ?, merge_user_id = ?,
         merge_when_build_succeeds = false, merge_message = null, merge_error = null,
         should_remove_source_branch = if(?, true, should_remove_source_branch), updated_at = ?,
         lock_version = lock_version + 1
       where id = ? and state <> 'merged' and deleted_at is null`,
      [commit, userId, removeSourceBranch, now, id]
    )
    await execute('delete from merge_intents where merge_request_id = ?', [id])
    if (affectedRows === 0) return false
    const byItself = before?.merge_when_build_succeeds === 1
    await publishMergeRequest({ action: 'merge', id, by: userId, ...(byItself && { byItself }) })
    await enqueue('merge_request.settle', { id, userId }, { runAt: new Date(now.getTime() + AGAIN_MS) })
    return true
  })
}

/** Does what follows a merge at once, so that the answer shows it. What fails is left to the job. */
export async function settleNow(merged: Pick<FinishedMerge, 'id' | 'userId'>): Promise<void> {
  try {
    await settleMerge(merged)
  } catch (error) {
    log().warn({ error, mergeRequest: merged.id }, 'what follows a merge is left to its job')
  }
}

/** Marks a merge request as merged, and does what follows, unless somebody else has done so. */
export async function finishMerge(merged: FinishedMerge): Promise<void> {
  if (await markMerged(merged)) await settleNow(merged)
}

/** Closes issues and removes the source branch after a merge. The second run finds both done. */
export async function settleMerge(merged: { readonly id: number; readonly userId: number | null }): Promise<void> {
  const found = await findMergeRequest(merged.id)
  if (found?.state !== 'merged') return
  await closeIssuesOf(found, merged.userId)
  const isForced = found.force_remove_source_branch === 1
  if (isForced || found.should_remove_source_branch === 1) {
    // Who wished at its creation that the branch goes is its author.
    await removeSourceBranch(found, isForced ? found.author_id : merged.userId)
  }
}

/** Removes the branch in the name of a user, if it still is what was merged. What cannot be removed stays. */
async function removeSourceBranch(found: MergeRequestRow, userId: number | null): Promise<void> {
  const user = userId === null ? undefined : await findSudoUser(String(userId))
  if (!user) return
  const actor = actorOf(user, 'private')
  const project = await findProject(found.source_project_id, actor)
  if (!project || !may(actor, 'branch.write', project)) return
  const branch = found.source_branch
  const ref = `refs/heads/${branch}`
  const head = await refValue(repositoryPath(project), ref)
  if (head === null || head !== found.head_sha || branch === project.default_branch) return
  if ((await findProtections(project.id)).of(branch)) return
  try {
    await moveRefs(project, [{ ref, old: head, new: ZERO }], originOf(actor, null))
  } catch (error) {
    if ([RefMoved, BadRequest, NotAllowed, NotFound].some(kind => error instanceof kind)) return
    throw error
  }
}
