// Makes the payloads for merge requests.
import {
  commit,
  dateTime,
  fullProject,
  type PayloadCommit,
  type PayloadProject,
  type PayloadUser,
  repository,
  user
} from './payloads.js'

/** A project, and the addresses of its repository. */
export interface PayloadTargetProject extends PayloadProject {
  readonly stored: { readonly id: number; readonly storage: string }
}

export interface PayloadMergeRequestAttributes {
  readonly id: number
  readonly target_branch: string
  readonly source_branch: string
  readonly source_project_id: number
  readonly author_id: number
  readonly assignee_id: number | null
  readonly title: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly milestone_id: number | null
  readonly state: string
  readonly merge_status: string
  readonly target_project_id: number
  readonly iid: number
  readonly description: string | null
  readonly updated_by_id: number | null
  readonly merge_error: string | null
  readonly force_remove_source_branch: boolean | null
  readonly should_remove_source_branch: boolean | null
  readonly merge_message: string | null
  readonly merge_when_build_succeeds: boolean
  readonly merge_user_id: number | null
  readonly merge_commit_sha: string | null
  readonly lock_version: number
  readonly time_estimate: number
  readonly work_in_progress: boolean
}

export interface PayloadMergeRequest {
  /** The user who made the change; null when unknown. */
  readonly user: PayloadUser | null
  /** The target. */
  readonly project: PayloadProject
  /** Null when the fork is deleted. */
  readonly source: PayloadProject | null
  readonly assignee: PayloadUser | null
  readonly lastCommit: PayloadCommit | null
  readonly attributes: PayloadMergeRequestAttributes
  readonly url: string
  readonly action: 'open' | 'update' | 'close' | 'reopen' | 'merge'
  /** The commit before a push. */
  readonly oldrev?: string
}

export function mergeRequestPayload(about: PayloadMergeRequest) {
  return {
    object_kind: 'merge_request',
    user: about.user && user(about.user),
    project: fullProject(about.project),
    object_attributes: {
      ...mergeRequestAttributes(about),
      url: about.url,
      action: about.action,
      ...(about.oldrev !== undefined && { oldrev: about.oldrev })
    },
    repository: repository(about.project),
    ...(about.assignee && { assignee: user(about.assignee) })
  }
}

/** The attributes of a merge request, which the payloads of its notes also have. */
export function mergeRequestAttributes(about: Omit<PayloadMergeRequest, 'action' | 'oldrev'>) {
  const { attributes } = about
  return {
    id: attributes.id,
    target_branch: attributes.target_branch,
    source_branch: attributes.source_branch,
    source_project_id: attributes.source_project_id,
    author_id: attributes.author_id,
    assignee_id: attributes.assignee_id,
    title: attributes.title,
    created_at: dateTime(attributes.created_at),
    updated_at: dateTime(attributes.updated_at),
    milestone_id: attributes.milestone_id,
    state: attributes.state,
    merge_status: attributes.merge_status,
    target_project_id: attributes.target_project_id,
    iid: attributes.iid,
    description: attributes.description,
    position: 0,
    locked_at: null,
    updated_by_id: attributes.updated_by_id,
    merge_error: attributes.merge_error,
    merge_params: mergeParams(attributes),
    merge_when_build_succeeds: attributes.merge_when_build_succeeds,
    merge_user_id: attributes.merge_user_id,
    merge_commit_sha: attributes.merge_commit_sha,
    deleted_at: null,
    in_progress_merge_commit_sha: null,
    lock_version: attributes.lock_version,
    time_estimate: attributes.time_estimate,
    source: about.source && fullProject(about.source),
    target: fullProject(about.project),
    last_commit: about.lastCommit && commit(about.lastCommit),
    work_in_progress: attributes.work_in_progress
  }
}

/** Not specified: the content. The reference service has the parameters that callers sent, with flags as `'1'` or `'0'`. */
function mergeParams(attributes: PayloadMergeRequestAttributes) {
  const { force_remove_source_branch: force, should_remove_source_branch: should, merge_message: message } = attributes
  return {
    ...(force !== null && { force_remove_source_branch: String(Number(force)) }),
    ...(should !== null && { should_remove_source_branch: String(Number(should)) }),
    ...(message !== null && { commit_message: message })
  }
}
