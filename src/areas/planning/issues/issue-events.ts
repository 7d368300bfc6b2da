// Events about issues contain a copy of their small values: hooks and notes about changes show the issue as it was at
// that moment. The description is read when it is needed.

import { row } from '../../../db/connect/sql.js'
import { moved } from '../../../db/lists/keyset-cache.js'
import { isPlain } from '../../../text/mentions.js'
import { type DomainEvent, type PublishedRecord, publish, publishWritten } from '../../ground/activity/events.js'
import type { IssueRow } from './issues.queries.js'

type PublishedIssue = Extract<DomainEvent, { kind: 'issue.changed' }>
/** The changes of an update; empty when all values were the same as before. */
export type IssueChanges = NonNullable<PublishedIssue['changes']>

interface PublishedEvent extends Pick<PublishedIssue, 'action' | 'by' | 'changes' | 'moved'> {
  readonly issueId: number
}

/** Publishes an event about an issue with its current values. Call it inside the `transact` of the change, after it. */
export async function publishIssue({ issueId, ...told }: PublishedEvent): Promise<void> {
  const issue = await row<Omit<PublishedIssue['issue'], 'confidential'> & { readonly confidential: number }>(
    `select id, iid, project_id, title, state, confidential, author_id, assignee_id, milestone_id,
       date_format(due_date, '%Y-%m-%d') as due_date, updated_by_id, moved_to_id, time_estimate, lock_version, created_at,
       updated_at from issues where id = ?`,
    [issueId]
  )
  moved('Issue')
  if (issue)
    await publish({ kind: 'issue.changed', ...told, issue: { ...issue, confidential: issue.confidential === 1 } })
}

/** Publishes that issues were created, from rows that the rule already has. */
export async function publishNewIssues(issues: readonly IssueRow[]): Promise<void> {
  moved('Issue')
  await publishWritten(issues.map(toldOf))
}

function toldOf(issue: IssueRow): PublishedRecord {
  const { id, iid, project_id, title, description, state, author_id, assignee_id, milestone_id, due_date } = issue
  const { updated_by_id, moved_to_id, time_estimate, lock_version, created_at, updated_at } = issue
  const plan = { author_id, assignee_id, milestone_id, due_date, updated_by_id, moved_to_id, time_estimate }
  const snapshot = { id, iid, project_id, title, state, confidential: issue.confidential === 1, ...plan }
  return {
    event: {
      kind: 'issue.changed',
      action: 'open',
      by: author_id,
      issue: { ...snapshot, lock_version, created_at, updated_at },
      ...(isPlain(title, description) && { plain: true })
    },
    texts: { title, description }
  }
}
