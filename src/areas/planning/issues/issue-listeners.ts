// Hook events and feed entries of issues.
import { row } from '../../../db/connect/sql.js'
import { beginning } from '../../../webhooks/body.js'
import { issuePayload } from '../../../webhooks/issue-payloads.js'
import type { PayloadUser } from '../../../webhooks/payloads.js'
import { payloadProject } from '../../code/refs/pushes.js'
import type { ShownProject } from '../../code/refs/ref-changes.queries.js'
import type { Published, Stored } from '../../ground/activity/events.js'
import type { FeedEntry } from '../../ground/activity/feed-entry.js'
import type { IssueSnapshot } from '../../ground/activity/plan-snapshots.js'
import type { HookEvent } from '../../ground/hooks/hook-events.js'

/** The maximum number of characters of a description in a payload. */
const DESCRIPTION_LIMIT = 100_000

/** Returns the hook event of an issue: a confidential issue needs a different flag of the hook. */
export function hookEventOfIssue({ event }: Published<'issue.changed'>): HookEvent {
  const { issue, action, by } = event
  const name = issue.confidential ? 'confidential_issue' : 'issue'
  return { project: { id: issue.project_id, event: name, payload: () => payloadOf(issue, action, by) } }
}

/** Returns the feed entry of an issue; null for an update. */
export function feedEntryOfIssue({ event }: Published<'issue.changed'>): FeedEntry | null {
  const { issue, action, by } = event
  if (action === 'update') return null
  return {
    projectId: issue.project_id,
    authorId: by,
    // A reopened issue is `opened` again.
    action: action === 'close' ? 'closed' : 'opened',
    target: { type: 'Issue', id: issue.id, title: issue.title }
  }
}

interface ShownRow extends ShownProject {
  readonly text: string | null
}

async function payloadOf(issue: Stored<IssueSnapshot>, action: string, by: number | null) {
  const [shown, user, assignee] = await Promise.all([
    row<ShownRow>(
      `select p.id as project_id, p.name as project_name, p.path as project_path, p.description, p.visibility_level,
         p.default_branch, n.name as namespace_name, n.path as namespace_path,
         (select i.description from issues i where i.id = ?) as text
       from projects p join namespaces n on n.id = p.namespace_id where p.id = ?`,
      [issue.id, issue.project_id]
    ),
    by === null ? null : payloadUser(by),
    issue.assignee_id === null ? null : payloadUser(issue.assignee_id)
  ])
  if (!shown) throw new Error(`the project ${issue.project_id} no longer exists, and neither do its hooks`)
  return issuePayload({
    issue,
    description: shown.text === null ? null : beginning(shown.text, DESCRIPTION_LIMIT),
    action,
    user: user ?? NOBODY,
    assignee,
    project: payloadProject(shown)
  })
}

const NOBODY: PayloadUser = { id: 0, name: '', username: '', email: '', avatarUrl: null }

async function payloadUser(id: number): Promise<PayloadUser | null> {
  const found = await row<Omit<PayloadUser, 'avatarUrl'>>('select id, name, username, email from users where id = ?', [
    id
  ])
  return found ? { ...found, avatarUrl: null } : null
}
