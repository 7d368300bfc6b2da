// Most new issues have no mentions, no assignee and no receivers: neither hooks nor people who hear about all new issues. All that
// is left of their effects is a line of the activity.
import type { Published } from '../../ground/activity/events.js'
import { hooksFor } from '../../ground/hooks/deliveries.js'
import { feedEntryOfIssue, hookEventOfIssue } from '../../planning/issues/issue-listeners.js'
import { recordAtOnce } from '../events/activity-feed.js'
import { hearersOfIssues } from './people.queries.js'

/** Handles new issues of one project in the transaction that creates them. Returns the ids of the events that it has handled. */
export async function handleNewIssues(all: readonly Published<'issue.changed'>[]): Promise<readonly string[]> {
  const [first] = all
  if (!first || !all.every(isSimple)) return []
  const projectId = first.event.issue.project_id
  if (all.some(({ event: { issue } }) => issue.project_id !== projectId)) return []
  // The flags of hooks differ for confidential issues.
  const kinds = new Map(all.map(each => [each.event.issue.confidential, each]))
  const hooks = [...kinds.values()].map(each => hooksFor(hookEventOfIssue(each)))
  const hearers = await hearersOfIssues(
    projectId,
    all.map(({ event: { issue } }) => issue.id),
    hooks
  )
  const unheard = all.filter(({ event: { by } }) => hearers.every(id => id === by))
  if (unheard.length === 0) return []
  return recordAtOnce(unheard.map(published => ({ published, entry: feedEntryOfIssue(published) })))
}

function isSimple({ event: { action, by, plain, moved, issue } }: Published<'issue.changed'>): boolean {
  const isUnassigned = issue.assignee_id === null || issue.assignee_id === by
  return action === 'open' && plain === true && by !== null && moved === undefined && isUnassigned
}
