// Merges the branches of a merge request by the one road of ref changes. A row tells what the merge is about to do before the
// branch moves; when this process ends in between, whoever hears of the moved branch does the rest (branch-moves.ts).
import type { Origin } from '../../../../access/actor.js'
import { requireAsker } from '../../../../access/actor.js'
import { execute, row } from '../../../../db/connect/sql.js'
import { BadRequest, NotAcceptable, NotAllowed, Unauthorized, Unavailable } from '../../../../errors.js'
import { mergeBase } from '../../../../git/history/merge-base.js'
import { RefBlocked, RefMoved } from '../../../../git/refs/refs.js'
import { freshMergeTree } from '../../../../git/write/merge.js'
import { prepareMerge } from '../../../../git/write/write.js'
import { Limiter } from '../../../../lib/limiter.js'
import { moveRefs } from '../../../code/refs/move-refs.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import type { MergeRequestRow } from '../merge-requests.queries.js'
import { readBranches } from '../versions/branches.js'
import { noteStatus } from '../versions/mergeability.js'

/** The text of the requirement for branches that do not merge, and for all else that stands in the way. */
export const CANNOT = 'Branch cannot be merged'
export const NOT_NOW = 'Method Not Allowed'

/** How often somebody else may move the branch during one merge. */
const TRIES = 20

/** Merges into one branch at once in this process: one runs, the others wait. Those of other processes meet at the branch itself. */
const MOST = 200

/** Merges into one branch go one after the other: at once, all but one of them would have to begin again. */
const merges = new Limiter({
  perClient: 1,
  queue: { perClient: () => MOST - 1, full: () => new Unavailable(`${MOST} merges into this branch wait already`) }
})

export interface Merge {
  readonly message: string
  readonly removeSourceBranch: boolean
  /** Marks the merge request as merged, before the next merge into the branch begins. */
  readonly finish: (commit: string) => Promise<unknown>
}

/**
 * Moves the target branch to a merge of the two. Gives the id of the commit. Throws NotAcceptable when the merge request is
 * not open any more, NotAllowed when the branches do not merge, and Unauthorized when the branch is closed to the asker.
 */
export const mergeBranches = (
  project: ProjectRow,
  found: MergeRequestRow,
  merge: Merge,
  origin: Origin
): Promise<string> =>
  merges.run({ client: `${project.id} ${found.target_branch}` }, async () => {
    for (let tries = 1; ; tries++) {
      const { id, start, write } = await prepare(found, merge, origin)
      await intend(found, id, merge, origin)
      const ref = `refs/heads/${found.target_branch}`
      try {
        await moveRefs(project, [{ ref, old: start, new: id }], origin, { write, how: 'merge' })
      } catch (error) {
        const isCertain = error instanceof RefMoved || error instanceof RefBlocked || error instanceof BadRequest
        // After any other error nobody knows whether the branch moved: recovery looks, and needs the row.
        if (!isCertain) throw error
        await execute('delete from merge_intents where merge_request_id = ? and commit_sha = ?', [found.id, id])
        if (error instanceof BadRequest) throw new Unauthorized()
        if (!(error instanceof RefMoved) || tries === TRIES) throw new NotAllowed(CANNOT)
        continue
      }
      await merge.finish(id)
      return id
    }
  })

async function prepare(found: MergeRequestRow, { message }: Merge, origin: Origin) {
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
  const { name, email } = requireAsker(origin)
  const person = { name, email, date: new Date() }
  const commit = prepareMerge(target, { parents: [start, head], treeId, message, author: person, committer: person })
  return { ...commit, start }
}

/** Two merges of one merge request at once: the second one finds that the first one has been done. */
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
