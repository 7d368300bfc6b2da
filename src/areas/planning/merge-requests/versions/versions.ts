// Versions of merge requests: while a merge request is open, each push to its source branch creates one. Their commits
// stay reachable in the repository of the target, whatever happens to the branches and the fork.
import { execute, row } from '../../../../db/connect/sql.js'
import { transact } from '../../../../db/connect/transact.js'
import { commitsBetween } from '../../../../git/history/commits.js'
import { mergeBase } from '../../../../git/history/merge-base.js'
import { patchesBetween } from '../../../../git/history/patches.js'
import { GitLimit } from '../../../../git/process/run.js'
import { enqueue } from '../../../../queue/enqueue.js'
import { keepCommitOf } from '../../../projects/projects/elsewhere/commits.js'
import { publishMergeRequest } from '../events.js'
import { findMergeRequest, type MergeRequestRow } from '../merge-requests.queries.js'
import { type Branches, readBranches } from './branches.js'
import { MOST_COMMITS } from './changes.js'

export interface NewVersion {
  readonly head: string
  readonly base: string | null
  readonly start: string
  readonly state: 'collected' | 'empty' | 'overflow'
  /** The number of changed files, followed by `+` if there are more. */
  readonly realSize: string
}

/** Keeps the commits of the source in the repository of the target, and finds out what they change. */
export async function prepareVersion({ target, source, head, start }: Known): Promise<NewVersion> {
  await keepCommitOf(source, head, target)
  const base = await mergeBase(target, start, head)
  const { total } = await commitsBetween(target, start, head, MOST_COMMITS)
  if (total === 0) return { head, base, start, state: 'empty', realSize: '0' }
  return { head, base, start, ...(await sizeOf(target, base ?? start, head)) }
}

async function sizeOf(repository: string, from: string, to: string): Promise<Pick<NewVersion, 'state' | 'realSize'>> {
  try {
    const { patches, isCut } = await patchesBetween(repository, from, to)
    return { state: isCut ? 'overflow' : 'collected', realSize: `${patches.length}${isCut ? '+' : ''}` }
  } catch (error) {
    if (!(error instanceof GitLimit)) throw error
    return { state: 'overflow', realSize: '0+' }
  }
}

/** Branches that all exist. */
export type Known = { readonly [Key in keyof Branches]: NonNullable<Branches[Key]> }

export const allThere = (branches: Branches): branches is Known => Object.values(branches).every(Boolean)

/** Writes the row of a version of a merge request; `target` is its target project. Call it inside `transact`. */
export async function insertVersion(
  { id, target }: { readonly id: number; readonly target: number },
  version: NewVersion
): Promise<void> {
  await execute(
    `insert into merge_request_versions (merge_request_id, head_sha, base_sha, start_sha, state, real_size, created_at)
     values (?, ?, ?, ?, ?, ?, ?)`,
    [id, version.head, version.base, version.start, version.state, version.realSize, new Date()],
    target
  )
}

/**
 * Creates a version if the source branch has moved since the last one. Returns the current merge request; undefined
 * when it no longer exists. Of two concurrent calls, the second changes nothing.
 */
export async function followSource(id: number): Promise<MergeRequestRow | undefined> {
  const found = await findMergeRequest(id)
  if (!found || (found.state !== 'opened' && found.state !== 'reopened')) return found
  const branches = await readBranches(found)
  if (!allThere(branches) || branches.head === found.head_sha) return found
  await addVersion(found, await prepareVersion(branches))
  return findMergeRequest(id)
}

async function addVersion(before: MergeRequestRow, version: NewVersion): Promise<void> {
  const by = await pusherOf(before, version.head)
  await transact(async () => {
    // A push cancels the wait for a build, which belongs to other commits.
    const { affectedRows } = await execute(
      `update merge_requests set head_sha = ?, merge_status = 'unchecked', merge_when_build_succeeds = false,
         merge_user_id = null, merge_message = null, merge_error = null, updated_at = ?
       where id = ? and head_sha <=> ? and is_open = true`,
      [version.head, new Date(), before.id, before.head_sha],
      before.target_project_id
    )
    if (affectedRows === 0) return
    await insertVersion({ id: before.id, target: before.target_project_id }, version)
    const oldrev = before.head_sha === null ? {} : { oldrev: before.head_sha }
    const canceled = before.merge_when_build_succeeds === 1 ? { changes: { automatic_merge: false } } : {}
    await publishMergeRequest({ action: 'update', id: before.id, by, ...oldrev, ...canceled })
    await enqueue('merge_requests.check', { ids: [before.id] })
    if (before.source_project_id !== before.target_project_id) {
      await enqueue('merge_request.link_objects', { id: before.id })
    }
  })
}

async function pusherOf(mergeRequest: MergeRequestRow, head: string): Promise<number | null> {
  const found = await row<{ user_id: number | null }>(
    `select user_id from ref_changes where project_id = ? and ref = ? and new_id = ? order by id desc limit 1`,
    [mergeRequest.source_project_id, `refs/heads/${mergeRequest.source_branch}`, head]
  )
  return found?.user_id ?? null
}
