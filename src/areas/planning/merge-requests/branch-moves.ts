// The effects of pushes on merge requests: new versions, merges by a push, and new checks whether branches merge.
import { holds } from '../../../cluster/storages.js'
import { execute, type Fragment, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { refValue, ZERO } from '../../../git/refs/refs.js'
import { containedSince } from '../../../git/write/merge.js'
import { enqueue } from '../../../queue/enqueue.js'
import { type ChangeRow, findSettledChange } from '../../code/refs/ref-changes.queries.js'
import type { Listener } from '../../ground/activity/listeners.js'
import { repositoryPath, storageOf } from '../../projects/projects/repositories.js'
import { finishMerge } from './accept/finish.js'
import { closeIssuesOfPush } from './closing.js'
import { type OpenMergeRequest, openFrom, openInto } from './merge-requests.queries.js'
import { requestChecks } from './versions/mergeability.js'
import { followSource } from './versions/versions.js'
import { emptyHeads } from './versions/versions.queries.js'

const HEADS = 'refs/heads/'

export const branchMoves: Listener = {
  name: 'merge requests',
  on: { 'ref.changed': ({ event }) => applyBranchMove(event.refChangeId) }
}

/** Applies a ref change to the merge requests of its branch. A second run changes nothing. */
export async function applyBranchMove(refChangeId: number): Promise<void> {
  const change = await findSettledChange(refChangeId)
  if (!change?.ref.startsWith(HEADS)) return
  const branch = change.ref.slice(HEADS.length)
  if (await concernsSome(change, branch)) await move(change, branch)
  await closeIssuesOfPush(change)
}

/** Most pushes concern no merge request: one statement finds that out, instead of three that find nothing. */
async function concernsSome({ project_id: projectId, new_id: commit }: ChangeRow, branch: string): Promise<boolean> {
  const { sql, values } = concerned(projectId, branch, commit)
  return (await row<{ concerned: number }>(`select ${sql} as concerned`, values))?.concerned === 1
}

/** A condition that holds when a move of a branch to a commit concerns any merge request. */
export const concerned = (projectId: number, branch: string, commit: string): Fragment => ({
  sql: `exists (select 1 from merge_intents where target_project_id = ? and commit_sha = ?)
    or exists (select 1 from merge_requests where source_project_id = ? and source_branch = ? and phase = 'opened')
    or exists (select 1 from merge_requests where target_project_id = ? and target_branch = ? and phase = 'opened')`,
  values: [projectId, commit, projectId, branch, projectId, branch]
})

async function move(change: ChangeRow, branch: string): Promise<void> {
  await finishIntent(change)
  if (change.new_id !== ZERO) {
    for (const found of await openFrom(change.project_id, branch)) {
      if (await isElsewhere(found.target_project_id, change)) await leaveToOwner(found)
      else await followSource(found.id)
    }
  }
  await lookInto(change, branch)
}

const isElsewhere = async (target: number, change: ChangeRow): Promise<boolean> => {
  const storage = target === change.project_id ? change.storage : await storageOf(String(target))
  return storage !== undefined && !holds(storage)
}

/** The machine of the target repository makes the new version, when it checks the merge request. */
const leaveToOwner = ({ id, target_project_id: target }: OpenMergeRequest): Promise<void> =>
  transact(async () => {
    await execute(
      "update merge_requests set merge_status = 'unchecked' where id = ? and merge_status <> 'unchecked' and is_open = true",
      [id],
      target
    )
    await enqueue('merge_requests.check', { ids: [id] })
  })

/** Finishes a merge whose process ended after the branch had moved. */
async function finishIntent({ project_id: projectId, new_id: commit }: ChangeRow): Promise<void> {
  const intent = await row<{ merge_request_id: number; user_id: number | null; remove_source_branch: number }>(
    `select merge_request_id, user_id, remove_source_branch from merge_intents
     where target_project_id = ? and commit_sha = ?`,
    [projectId, commit]
  )
  if (!intent) return
  const { merge_request_id: id, user_id: userId, remove_source_branch: removes } = intent
  await finishMerge({ id, commit, userId, removeSourceBranch: removes === 1 })
}

async function lookInto(change: ChangeRow, branch: string): Promise<void> {
  const open = await openInto(change.project_id, branch)
  if (open.length === 0) return
  await execute(
    `update merge_requests set merge_status = 'unchecked'
     where target_project_id = ? and target_branch = ? and phase = 'opened' and merge_status <> 'unchecked'`,
    [change.project_id, branch],
    change.project_id
  )
  const merged = await mergedBy(change, open)
  for (const id of merged) {
    await followSource(id)
    await finishMerge({ id, commit: null, userId: change.user_id, removeSourceBranch: false })
  }
  await requestChecks(open.filter(({ id }) => !merged.has(id)).map(({ id }) => id))
}

/**
 * Returns the merge requests whose newest commit this push brought into the target branch. One that was created after the push, from
 * a branch without commits of its own, has brought nothing.
 */
async function mergedBy(change: ChangeRow, open: readonly OpenMergeRequest[]): Promise<ReadonlySet<number>> {
  const { project_id: projectId, storage, old_id: before, new_id: after } = change
  const repository = repositoryPath({ id: projectId, storage })
  const heads = await Promise.all(
    open.map(async ({ id, head_sha: known, source_project_id: source, source_branch: branch }) => {
      // One push may bring commits to both branches, and the new commits of the source may not have been processed yet.
      const now = source === projectId ? await refValue(repository, `${HEADS}${branch}`) : null
      return { id, head: now ?? known ?? ZERO }
    })
  )
  const found = await containedSince(repository, { before, after, wanted: heads.map(({ head }) => head) })
  const brought = heads.filter(({ head }) => found.has(head))
  if (brought.length === 0) return new Set()
  const begun = await emptyHeads(brought.map(({ id }) => id))
  return new Set(brought.filter(({ id, head }) => begun.get(id) !== head).map(({ id }) => id))
}
