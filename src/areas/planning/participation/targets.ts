// The targets of plans and discussions: issues and merge requests. Both have labels, milestones, subscriptions and time.

/** The value of `target_type` in links of labels, subscriptions and logs of time. */
export type TargetType = 'Issue' | 'MergeRequest'

/** An issue or a merge request. `projectId` is its project; for a merge request that is the target. */
export interface Target {
  readonly type: TargetType
  readonly id: number
  readonly projectId: number
}

/** The table of each kind of target. Both tables have the columns of the rules that use it. */
export const TARGET_TABLES = { Issue: 'issues', MergeRequest: 'merge_requests' } as const satisfies {
  readonly [Type in TargetType]: string
}

/**
 * The maximum number of characters of a description. Not specified: a limit. A list of 100 records shows all of them,
 * so a response stays below a hundred megabytes.
 */
export const LONGEST_DESCRIPTION = 262_144
