// Publishes events about merge requests. Each contains a copy of the row.

import { row } from '../../../db/connect/sql.js'
import { moved } from '../../../db/lists/keyset-cache.js'
import { type DomainEvent, publish } from '../../ground/activity/events.js'

type PublishedMergeRequest = Extract<DomainEvent, { kind: 'merge_request.changed' }>

interface PublishedEvent extends Pick<PublishedMergeRequest, 'action' | 'by' | 'changes' | 'oldrev' | 'byItself'> {
  readonly id: number
}

type Flags = 'merge_when_build_succeeds' | 'should_remove_source_branch' | 'force_remove_source_branch'
type Columns = Omit<PublishedMergeRequest['mergeRequest'], Flags> & { readonly [Flag in Flags]: number | null }

/** Publishes an event about a merge request with its current values. Call it inside the `transact` of the change, after it. */
export async function publishMergeRequest({ id, ...told }: PublishedEvent): Promise<void> {
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
  await publish({ kind: 'merge_request.changed', ...told, mergeRequest })
}
