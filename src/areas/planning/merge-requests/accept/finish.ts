// The effects of a merge after the target branch has moved: all of them, exactly once.
import { type Actor, actorOf, originOf } from '../../../../access/actor.js'
import { may } from '../../../../access/authorize.js'
import { holds } from '../../../../cluster/storages.js'
import { execute, row } from '../../../../db/connect/sql.js'
import { transact } from '../../../../db/connect/transact.js'
import { BadRequest, NotAllowed, NotFound } from '../../../../errors.js'
import { RefMoved, ZERO } from '../../../../git/refs/refs.js'
import { log } from '../../../../log.js'
import { enqueue } from '../../../../queue/enqueue.js'
import { moveRefs } from '../../../code/refs/move-refs.js'
import { findProtections } from '../../../code/refs/protected-branches.queries.js'
import type { Protections } from '../../../code/refs/protection.js'
import { findSudoUser } from '../../../people/credentials/credentials.js'
import { refOf } from '../../../projects/projects/elsewhere/commits.js'
import { findProject, type ProjectRow } from '../../../projects/projects/projects.queries.js'
import { closeIssuesOf } from '../closing.js'
import { publishMergeRequest } from '../events.js'
import { findMergeRequest, type MergeRequestRow } from '../merge-requests.queries.js'
import { linkObjectsOfFork } from './lfs-of-fork.js'

export interface FinishedMerge {
  readonly id: number
  /** The merge commit; null when a push brought the changes. */
  readonly commit: string | null
  readonly userId: number | null
  readonly removeSourceBranch: boolean
}

/** Milliseconds until a job repeats the effects of a merge, in case this process did not finish them. */
const AGAIN_MS = 3000

/** Marks a merge request as merged. Returns false when it was already marked. */
export async function markMerged({ id, commit, userId, removeSourceBranch }: FinishedMerge): Promise<boolean> {
  const now = new Date()
  return transact(async () => {
    const before = await row<{ merge_when_build_succeeds: number; target_project_id: number }>(
      'select merge_when_build_succeeds, target_project_id from merge_requests where id = ? for update',
      [id]
    )
    // A merge request that was closed a moment ago is merged anyway: the branch has its changes.
    const { affectedRows } = await execute(
      `update merge_requests set state = 'merged', merge_status = 'can_be_merged', merge_commit_sha = ?, merge_user_id = ?,
         merge_when_build_succeeds = false, merge_message = null, merge_error = null,
         should_remove_source_branch = if(?, true, should_remove_source_branch), updated_at = ?,
         lock_version = lock_version + 1
       where id = ? and state <> 'merged' and deleted_at is null`,
      [commit, userId, removeSourceBranch, now, id],
      before?.target_project_id
    )
    await execute('delete from merge_intents where merge_request_id = ?', [id])
    if (affectedRows === 0) return false
    const byItself = before?.merge_when_build_succeeds === 1
    await publishMergeRequest({ action: 'merge', id, by: userId, ...(byItself && { byItself }) })
    await enqueue('merge_request.settle', { id, userId }, { runAt: new Date(now.getTime() + AGAIN_MS) })
    return true
  })
}

/** Runs the effects of a merge immediately, so that the response shows them. The job repeats those that fail. */
export async function settleNow(merged: Pick<FinishedMerge, 'id' | 'userId'>): Promise<void> {
  try {
    await settleMerge(merged)
  } catch (error) {
    log().warn({ error, mergeRequest: merged.id }, 'the effects of a merge are left to its job')
  }
}

/** Marks a merge request as merged and runs the effects, unless it was already marked. */
export async function finishMerge(merged: FinishedMerge): Promise<void> {
  if (await markMerged(merged)) await settleNow(merged)
}

interface SettledMerge {
  readonly id: number
  readonly userId: number | null
  /** Set when only the source branch is left to remove: it is on another machine. */
  readonly onlyBranch?: boolean
}

/** The job of a merge: its effects, and what nobody waits for. */
export async function settleMergeLater(merged: SettledMerge, signal: AbortSignal): Promise<void> {
  await settleMerge(merged)
  if (!merged.onlyBranch) await linkObjectsOfFork(merged.id, signal)
}

/** Closes issues and removes the source branch after a merge. A second run changes nothing. */
export async function settleMerge(merged: SettledMerge): Promise<void> {
  const found = await findMergeRequest(merged.id)
  if (found?.state !== 'merged') return
  if (!merged.onlyBranch) await closeIssuesOf(found, merged.userId)
  const isForced = found.force_remove_source_branch === 1
  if (isForced || found.should_remove_source_branch === 1) {
    // Its author requested at its creation that the branch is removed.
    await removeSourceBranch(found, isForced ? found.author_id : merged.userId, merged)
  }
}

/** Whether a merge may remove the branch in the name of the actor: it is neither the default branch nor protected. */
export const mayRemoveBranch = async (project: ProjectRow, branch: string, actor: Actor): Promise<boolean> =>
  mayRemoveBy(await findProtections(project.id), project, branch, actor)

/** Does the same with the protected branches of the project. */
export const mayRemoveBy = (protections: Protections, project: ProjectRow, branch: string, actor: Actor): boolean =>
  may(actor, 'branch.write', project) && branch !== project.default_branch && !protections.of(branch)

/** Removes the branch in the name of a user, if it still points to the merged commit. A branch that cannot be removed stays. */
async function removeSourceBranch(found: MergeRequestRow, userId: number | null, merged: SettledMerge): Promise<void> {
  const user = userId === null ? undefined : await findSudoUser(String(userId))
  if (!user) return
  const actor = actorOf(user, 'private')
  const project = await findProject(found.source_project_id, actor)
  const branch = found.source_branch
  if (!project || !(await mayRemoveBranch(project, branch, actor))) return
  const ref = `refs/heads/${branch}`
  const head = await refOf(project, ref)
  if (head === null || head !== found.head_sha) return
  if (!merged.onlyBranch && !holds(project.storage)) {
    await enqueue('merge_request.settle', { id: merged.id, userId: merged.userId, onlyBranch: true })
    return
  }
  try {
    await moveRefs(project, [{ ref, old: head, new: ZERO }], originOf(actor, null))
  } catch (error) {
    if ([RefMoved, BadRequest, NotAllowed, NotFound].some(kind => error instanceof kind)) return
    throw error
  }
}
