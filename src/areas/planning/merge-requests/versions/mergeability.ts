// Whether the branches of merge requests merge without conflicts. A job checks this after each push to one of the two branches.
import { execute } from '../../../../db/connect/sql.js'
import { objectInfo } from '../../../../git/objects/reader.js'
import { GitLimit } from '../../../../git/process/run.js'
import { refValue } from '../../../../git/refs/refs.js'
import { mergeTree } from '../../../../git/write/merge.js'
import { batches } from '../../../../lib/batches.js'
import { enqueueAll } from '../../../../queue/enqueue.js'
import { keepCommitOf } from '../../../projects/projects/elsewhere/commits.js'
import { findMergeRequest, type MergeRequestRow, type MergeStatus } from '../merge-requests.queries.js'
import { isOpen } from '../rules.js'
import { type Branches, readBranches } from './branches.js'
import { allThere, followSource, type Known } from './versions.js'

/** How often the target branch may move during one check; the push that moved it requests another check. */
const LOOKS = 5

/** The maximum number of merge requests that one job checks. */
const CHECKED_AT_ONCE = 10

/** Adds the jobs that check merge requests. Call it inside `transact`, with the change that makes their status unknown. */
export const requestChecks = (ids: readonly number[]) =>
  enqueueAll(
    'merge_requests.check',
    batches(ids, CHECKED_AT_ONCE).map(some => ({ ids: some }))
  )

/** Checks merge requests whose branches moved since the last check. */
export async function checkMergeability(ids: readonly number[], signal: AbortSignal): Promise<void> {
  for (const id of ids) {
    signal.throwIfAborted()
    const found = await findMergeRequest(id)
    if (found && isOpen(found) && found.merge_status === 'unchecked') await look(found)
  }
}

async function look(found: MergeRequestRow): Promise<void> {
  for (let looks = 0; looks < LOOKS; looks++) {
    const branches = await readBranches(found)
    // A push while the merge request was being created did not find it. The new version requests another check.
    if (allThere(branches)) await (branches.head === found.head_sha ? bringHead(branches) : followSource(found.id))
    await noteStatus(found, await statusOf(branches, found.head_sha))
    const { target, start } = branches
    // The branch moves before the status is reset, so that no outdated result stays.
    const now = target === null ? null : await refValue(target, `refs/heads/${found.target_branch}`)
    if (now === start) return
  }
}

/** A migration may bring a merge request without its commits, which come with its fork. */
async function bringHead({ source, head, target }: Known): Promise<void> {
  if ((await objectInfo(target, head)) === null) await keepCommitOf(source, head, target)
}

async function statusOf({ target, head, start }: Branches, known: string | null): Promise<MergeStatus> {
  // The version for the current head of the branch is still being created.
  if (target === null || start === null || head === null || known === null) return 'cannot_be_merged'
  try {
    return (await mergeTree(target, start, known)) === null ? 'cannot_be_merged' : 'can_be_merged'
  } catch (error) {
    if (error instanceof GitLimit) return 'cannot_be_merged'
    throw error
  }
}

/** Stores the result of a check, unless the source has moved since. */
export const noteStatus = (
  { id, head_sha: head, target_project_id: projectId }: MergeRequestRow,
  status: MergeStatus
) =>
  execute(
    'update merge_requests set merge_status = ? where id = ? and head_sha <=> ? and is_open = true',
    [status, id, head],
    projectId
  )
