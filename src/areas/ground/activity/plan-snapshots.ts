// Copies of issues and milestones for events: hooks and notes show their state at that moment. The description of an
// issue can have a quarter of a megabyte, so listeners read it only when they need it.

export interface IssueSnapshot {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly title: string
  readonly state: string
  readonly confidential: boolean
  readonly author_id: number
  readonly assignee_id: number | null
  readonly milestone_id: number | null
  /** YYYY-MM-DD. */
  readonly due_date: string | null
  readonly updated_by_id: number | null
  readonly moved_to_id: number | null
  readonly time_estimate: number
  readonly lock_version: number
  readonly created_at: Date
  readonly updated_at: Date
}

type Pair<T> = readonly [before: T, after: T]

/** The changes of an update: values before and after, and the ids of labels that were added and removed. */
export interface IssueChanges {
  readonly title?: Pair<string>
  readonly description?: true
  readonly confidential?: Pair<boolean>
  readonly assignee_id?: Pair<number | null>
  readonly milestone_id?: Pair<number | null>
  readonly due_date?: Pair<string | null>
  readonly labels?: { readonly added: readonly number[]; readonly removed: readonly number[] }
  /** Seconds: the new estimate, and the time that was logged (negative: subtracted). */
  readonly time_estimate?: number
  readonly time_spent?: number
  /** Names that its new texts mention and the old ones did not. */
  readonly named?: readonly string[]
}

export interface MilestoneSnapshot {
  readonly id: number
  readonly project_id: number
  readonly title: string
}
