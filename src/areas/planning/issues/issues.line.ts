// The record of an issue that commands print, except its description, which lists leave out. This file does not load
// TypeBox, which takes 0.1 s.
import type { IssueReading } from './issue-readings.js'
import type { IssueRow } from './issues.queries.js'

/** Returns NAMESPACE/PROJECT; null while a job removes the issues of a removed project. */
export const projectOf = ({ namespace_path: namespace, project_path: path }: IssueRow): string | null =>
  namespace === null ? null : `${namespace}/${path}`

export const viewIssueLine = ({ issue, milestone, labels }: IssueReading) => ({
  id: issue.id,
  project_id: issue.project_id,
  project: projectOf(issue),
  number: issue.iid,
  title: issue.title,
  state: issue.state,
  author: issue.author_username,
  assignee: issue.assignee_username,
  milestone: milestone?.title ?? null,
  due_date: issue.due_date,
  time_estimate: issue.time_estimate,
  total_time_spent: issue.total_time_spent,
  created_at: issue.created_at,
  updated_at: issue.updated_at,
  confidential: issue.confidential === 1,
  labels
})
