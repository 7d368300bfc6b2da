// Copies of merge requests for events: hooks and notes show the state at that moment. A description can have a quarter
// of a megabyte, so listeners read it only when they need it.

export interface MergeRequestSnapshot {
  readonly id: number
  readonly iid: number
  readonly target_project_id: number
  readonly source_project_id: number
  readonly target_branch: string
  readonly source_branch: string
  readonly title: string
  readonly state: string
  readonly merge_status: string
  readonly author_id: number
  readonly assignee_id: number | null
  readonly milestone_id: number | null
  readonly updated_by_id: number | null
  readonly head_sha: string | null
  readonly merge_commit_sha: string | null
  readonly merge_error: string | null
  readonly merge_when_build_succeeds: boolean
  readonly merge_user_id: number | null
  readonly should_remove_source_branch: boolean | null
  readonly force_remove_source_branch: boolean | null
  readonly time_estimate: number
  readonly lock_version: number
  readonly created_at: Date
  readonly updated_at: Date
}

type Pair<T> = readonly [before: T, after: T]

/** The changes of an update: values before and after, and the ids of labels that were added and removed. */
export interface MergeRequestChanges {
  readonly title?: Pair<string>
  readonly description?: true
  readonly target_branch?: Pair<string>
  readonly assignee_id?: Pair<number | null>
  readonly milestone_id?: Pair<number | null>
  readonly remove_source_branch?: Pair<boolean>
  readonly labels?: { readonly added: readonly number[]; readonly removed: readonly number[] }
  /** Seconds: the new estimate, and the time that was logged (negative: subtracted). */
  readonly time_estimate?: number
  readonly time_spent?: number
  /** Whether it now waits for its build, or no longer does. */
  readonly automatic_merge?: boolean
  /** Names that its new texts mention and the old ones did not. */
  readonly named?: readonly string[]
}
