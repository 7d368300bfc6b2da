// The record of a merge request that commands print, except its description, which lists leave out. This file does not
// load TypeBox, which takes 0.1 s.
import type { MergeRequestRow } from './merge-requests.queries.js'

export const viewMergeRequestLine = (found: MergeRequestRow) => ({
  id: found.id,
  project_id: found.target_project_id,
  project: `${found.namespace_path}/${found.project_path}`,
  number: found.iid,
  title: found.title,
  state: found.state,
  merge_status: found.merge_status,
  source_project_id: found.source_project_id,
  source_branch: found.source_branch,
  target_branch: found.target_branch,
  sha: found.head_sha,
  merge_commit_sha: found.merge_commit_sha,
  merge_when_build_succeeds: found.merge_when_build_succeeds === 1,
  author: found.author_username,
  assignee: found.assignee_username,
  created_at: found.created_at,
  updated_at: found.updated_at
})
