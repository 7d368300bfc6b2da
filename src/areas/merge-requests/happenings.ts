// Tells what happens to merge requests, each time with a copy of the row.
import { moved } from '../../db/places.js'
import { row } from '../../db/sql.js'
import { type Happening, tell } from '../activity/happenings.js'

export type ToldMergeRequest = Extract<Happening, { kind: 'merge_request.changed' }>

interface Told extends Pick<ToldMergeRequest, 'action' | 'by' | 'changes' | 'oldrev' | 'byItself'> {
  readonly id: number
}

type Flags = 'merge_when_build_succeeds' | 'should_remove_source_branch' | 'force_remove_source_branch'
type Columns = Omit<ToldMergeRequest['mergeRequest'], Flags> & { readonly [Flag in Flags]: number | null }

/** Tells a happening of a merge request as it is now. Call it inside the `transact` of the change, after it. */
export async function tellMergeRequest({ id, ...told }: Told): Promise<void> {
  moved('MergeRequest')
  const found = await row<Columns>(
    `select id, iid, target_project_id, source_project_id, target_branch, source_branch, title, state, merge_status,
       author_id, assignee_id, milestone_id, updated_by_id, head_sha, merge_commit_sha, merge_error,
       merge_when_build_succeeds, merge_user_id, should_remove_source_branch, force_remove_source_branch, time_estimate,
       lock_version, created_at, updated_at from merge_requests where id = ?`,
    [id]
  )
  if (!found) return
  const flag = (value: number | null) => (value === null ? null : value === 1)
  const mergeRequest = {
    ...found,
    merge_when_build_succeeds: found.merge_when_build_succeeds === 1,
    should_remove_source_branch: flag(found.should_remove_source_branch),
    force_remove_source_branch: flag(found.force_remove_source_branch)
  }
  await tell({ kind: 'merge_request.changed', ...told, mergeRequest })
}
