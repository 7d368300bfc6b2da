// Makes the payloads of issues.
import { fullProject, type PayloadProject, type PayloadUser, repository, user } from './payloads.js'

/** Dates are ISO 8601 date-times, and days are YYYY-MM-DD. */
export interface PayloadIssue {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly title: string
  readonly state: string
  readonly confidential: boolean
  readonly author_id: number
  readonly assignee_id: number | null
  readonly milestone_id: number | null
  readonly due_date: string | null
  readonly updated_by_id: number | null
  readonly moved_to_id: number | null
  readonly time_estimate: number
  readonly lock_version: number
  readonly created_at: string
  readonly updated_at: string
}

export interface IssuePayload {
  readonly issue: PayloadIssue
  readonly description: string | null
  readonly action: string
  /** The user who made the change. */
  readonly user: PayloadUser
  readonly assignee: PayloadUser | null
  readonly project: PayloadProject
}

/** The attributes of an issue, as the payloads of issues and of their notes show them. */
export const issueAttributes = (issue: PayloadIssue, description: string | null) => ({
  id: issue.id,
  title: issue.title,
  assignee_id: issue.assignee_id,
  author_id: issue.author_id,
  project_id: issue.project_id,
  created_at: issue.created_at,
  updated_at: issue.updated_at,
  position: 0,
  branch_name: null,
  description,
  milestone_id: issue.milestone_id,
  state: issue.state,
  iid: issue.iid,
  updated_by_id: issue.updated_by_id,
  confidential: issue.confidential,
  deleted_at: null,
  due_date: issue.due_date,
  moved_to_id: issue.moved_to_id,
  time_estimate: issue.time_estimate,
  lock_version: issue.lock_version
})

/** The payload of an issue that was opened, changed, closed or reopened. */
export function issuePayload({ issue, description, action, user: by, assignee, project }: IssuePayload) {
  return {
    object_kind: 'issue',
    user: user(by),
    project: fullProject(project),
    object_attributes: {
      ...issueAttributes(issue, description),
      url: `${project.webUrl}/issues/${issue.iid}`,
      action
    },
    repository: repository(project),
    ...(assignee && { assignee: user(assignee) })
  }
}
