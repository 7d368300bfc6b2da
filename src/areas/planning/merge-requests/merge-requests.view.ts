// The records "Merge request" and its changes.
import type { Patch } from '../../../git/history/patches.js'
import { described, Flag, IdOf, Integer, Moment, Nullable, OneOf, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { DiffEntry, viewDiffEntry } from '../../code/history/history.view.js'
import { viewUserBasic } from '../../people/users/users.record.js'
import { UserBasic } from '../../people/users/users.view.js'
import { Milestone, viewMilestone } from '../milestones/milestones.view.js'
import { type MergeRequestRow, mergeRequestUrl } from './merge-requests.queries.js'
import type { MergeRequestReading } from './readings.js'
import { isWorkInProgress } from './titles.js'

const record = {
  id: IdOf('the merge request'),
  iid: Integer('the number in the project'),
  project_id: IdOf('the target project'),
  title: Text('the title'),
  description: Nullable(Text('the description')),
  state: OneOf(['opened', 'reopened', 'closed', 'merged'], 'MergeRequestState', 'the state'),
  created_at: Moment('when it was created'),
  updated_at: Moment('when it was last changed'),
  target_branch: Text('the branch that gets the changes'),
  source_branch: Text('the branch with the changes'),
  upvotes: Integer('the number of votes for it'),
  downvotes: Integer('the number of votes against it'),
  author: described(UserBasic, 'the user who created it'),
  assignee: Nullable(described(UserBasic, 'the user who is responsible for it')),
  source_project_id: IdOf('the project of the source branch'),
  target_project_id: IdOf('the project of the target branch'),
  labels: Type.Array(Type.String(), { description: 'the titles of its labels' }),
  work_in_progress: Flag('whether the title marks it as work in progress'),
  milestone: Nullable(described(Milestone, 'its milestone')),
  merge_when_build_succeeds: Flag('whether it will be merged when its pipeline succeeds'),
  merge_status: OneOf(
    ['unchecked', 'can_be_merged', 'cannot_be_merged'],
    'MergeStatus',
    'whether the branches merge without conflicts'
  ),
  sha: Nullable(Text('the newest commit of the latest version')),
  merge_commit_sha: Nullable(Text('the commit that merged it')),
  subscribed: Flag('whether you get notifications about it'),
  user_notes_count: Integer('the number of notes that people wrote'),
  should_remove_source_branch: Nullable(Flag('whether the merge should remove the source branch')),
  force_remove_source_branch: Nullable(Flag('whether the source branch is removed when it is merged')),
  web_url: Text('the URL of its page')
}

export const MergeRequest = Type.Object(record, {
  title: 'MergeRequest',
  description: 'A request to merge the changes of one branch into another.'
})

export const MergeRequestChanges = Type.Object(
  { ...record, changes: Type.Array(DiffEntry, { description: 'the files that it changes' }) },
  { title: 'MergeRequestChanges', description: 'A merge request with its changes.' }
)

const flag = (value: number | null): boolean | null => (value === null ? null : value === 1)

export const viewMergeRequest = ({ mergeRequest: row, milestone, ...reading }: MergeRequestReading) => ({
  id: row.id,
  iid: row.iid,
  project_id: row.target_project_id,
  title: row.title,
  description: row.description,
  state: row.state,
  created_at: row.created_at,
  updated_at: row.updated_at,
  target_branch: row.target_branch,
  source_branch: row.source_branch,
  upvotes: reading.counts.upvotes,
  downvotes: reading.counts.downvotes,
  author: viewUserBasic({
    id: row.author_id,
    name: row.author_name,
    username: row.author_username,
    state: row.author_state
  }),
  assignee: viewAssignee(row),
  source_project_id: row.source_project_id,
  target_project_id: row.target_project_id,
  labels: [...reading.labels],
  work_in_progress: isWorkInProgress(row.title),
  milestone: milestone ? viewMilestone(milestone) : null,
  merge_when_build_succeeds: row.merge_when_build_succeeds === 1,
  merge_status: row.merge_status,
  sha: row.head_sha,
  merge_commit_sha: row.merge_commit_sha,
  subscribed: reading.subscribed,
  user_notes_count: reading.counts.user_notes_count,
  should_remove_source_branch: flag(row.should_remove_source_branch),
  force_remove_source_branch: flag(row.force_remove_source_branch),
  web_url: mergeRequestUrl(row)
})

export const viewMergeRequestChanges = (reading: MergeRequestReading, patches: readonly Patch[]) =>
  Object.assign(viewMergeRequest(reading), { changes: patches.map(viewDiffEntry) })

function viewAssignee({ assignee_id: id, assignee_name: name, ...row }: MergeRequestRow) {
  if (id === null || name === null) return null
  return viewUserBasic({ id, name, username: row.assignee_username ?? '', state: row.assignee_state ?? 'active' })
}
