// Merges the branches of a merge request through `moveRefs`, like all ref changes. A row announces the merge before the branch
// moves; if this process ends in between, the listener that receives the ref change finishes the merge (branch-moves.ts).
import type { Origin } from '../../../../access/actor.js'
import { requireAsker } from '../../../../access/actor.js'
import { execute, row } from '../../../../db/connect/sql.js'
import { BadRequest, NotAcceptable, NotAllowed, Unauthorized } from '../../../../errors.js'
import { mergeBase } from '../../../../git/history/merge-base.js'
import { DamagedRepository, readCommit } from '../../../../git/objects/objects.js'
import { RefBlocked, RefMoved } from '../../../../git/refs/refs.js'
import { freshMergeTree } from '../../../../git/write/merge.js'
import { prepareMerge } from '../../../../git/write/write.js'
import { changeBranch } from '../../../code/refs/branch-turns.js'
import { moveRefs } from '../../../code/refs/move-refs.js'
import { lockRefusalOfTrees } from '../../../projects/lfs/push-locks.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import type { MergeRequestRow } from '../merge-requests.queries.js'
import { readBranches } from '../versions/branches.js'
import { noteStatus } from '../versions/mergeability.js'

/** The texts of the requirement: for branches that do not merge, and for all other obstacles. */
export const CANNOT = 'Branch cannot be merged'
export const NOT_NOW = 'Method Not Allowed'

export interface Merge {
  readonly message: string
  readonly removeSourceBranch: boolean
  /** Marks the merge request as merged, before the next merge into the branch begins. */
  readonly finish: (commit: string) => Promise<unknown>
}

/**
 * Moves the target branch to a merge of the two branches. Returns the id of the commit. Throws NotAcceptable when the merge
 * request is no longer open, NotAllowed when the branches do not merge or a changed file is locked, and Unauthorized when the caller may not move the branch.
 */
export const mergeBranches = (
  project: ProjectRow,
  found: MergeRequestRow,
  merge: Merge,
  origin: Origin
): Promise<string> =>
  changeBranch(project, found.target_branch, origin, async () => {
    const { id, start, write } = await prepare(project, found, merge, origin)
    await intend(found, id, merge, origin)
    const ref = `refs/heads/${found.target_branch}`
    try {
      await moveRefs(project, [{ ref, old: start, new: id }], origin, { write, how: 'merge' })
    } catch (error) {
      const isCertain = error instanceof RefMoved || error instanceof RefBlocked || error instanceof BadRequest
      // After any other error it is unknown whether the branch moved: the recovery checks that, and needs the row.
      if (!isCertain) throw error
      await execute('delete from merge_intents where merge_request_id = ? and commit_sha = ?', [found.id, id])
      if (error instanceof BadRequest) throw new Unauthorized()
      throw error instanceof RefBlocked ? new NotAllowed(CANNOT) : error
    }
    // Before the next change of the branch begins.
    await merge.finish(id)
    return id
  })

async function prepare(project: ProjectRow, found: MergeRequestRow, { message }: Merge, origin: Origin) {
  if (!(await row('select id from merge_requests where id = ? and is_open = true', [found.id]))) {
    throw new NotAcceptable(NOT_NOW)
  }
  const { target, start } = await readBranches(found)
  const head = found.head_sha
  if (target === null || start === null || head === null) throw new NotAllowed(CANNOT)
  if ((await mergeBase(target, start, head)) === head) throw new NotAllowed(CANNOT)
  const treeId = await freshMergeTree(target, start, head)
  if (treeId === null) {
    await noteStatus(found, 'cannot_be_merged')
    throw new NotAllowed(CANNOT)
  }
  const { id, name, email } = requireAsker(origin)
  // The author may have locked the files to change them in this merge request.
  const locked = await lockRefusalOfTrees(project, [await treeOf(target, start), treeId], id, found.author_id)
  if (locked !== null) throw new NotAllowed(locked, locked)
  const person = { name, email, date: new Date() }
  const commit = prepareMerge(target, { parents: [start, head], treeId, message, author: person, committer: person })
  return { ...commit, start }
}

async function treeOf(repository: string, id: string): Promise<string> {
  const commit = await readCommit(repository, id)
  if (!commit) throw new DamagedRepository(repository, `the commit ${id} is missing`)
  return commit.treeId
}

/** Records the merge before the branch moves. Of two concurrent merges of one merge request, the second finds that the first is done. */
async function intend(
  { id, target_project_id: projectId, target_branch: branch }: MergeRequestRow,
  commit: string,
  { removeSourceBranch }: Merge,
  origin: Origin
): Promise<void> {
  const { affectedRows } = await execute(
    `insert into merge_intents (merge_request_id, commit_sha, target_project_id, user_id, remove_source_branch, created_at)
     select id, ?, ?, ?, ?, ? from merge_requests where id = ? and is_open = true and target_branch = ?`,
    [commit, projectId, requireAsker(origin).id, removeSourceBranch, new Date(), id, branch]
  )
  if (affectedRows === 0) throw new NotAcceptable(NOT_NOW)
}
