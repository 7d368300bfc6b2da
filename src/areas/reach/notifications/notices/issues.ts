import { may } from '../../../../access/authorize.js'
import type { Published } from '../../../ground/activity/events.js'
import { canSeeIssue, findToldIssue } from '../../../planning/issues/issues.queries.js'
import type { Concerned } from '../people.queries.js'
import type { MailEvent } from '../recipients.js'
import { type Notice, pathOf, readProject, urlOf } from './notice.js'
import { labelsOf } from './record-labels.queries.js'
import { eventsOf, type MergeRequestEvent, mentionsBy, namedBy, type RecordEvent, recordFacts } from './records.js'

const EVENTS: { readonly [Event in IssueEvent]: MailEvent } = {
  new: 'new_issue',
  close: 'close_issue',
  reopen: 'reopen_issue',
  reassign: 'reassign_issue',
  label: 'label_added',
  mention: 'mentioned'
}

type IssueEvent = Exclude<RecordEvent, 'merge' | MergeRequestEvent>
const isOfIssues = (event: RecordEvent): event is IssueEvent => event in EVENTS

interface Secret {
  readonly confidential: boolean
  readonly author_id: number
  readonly assignee_id: number | null
}

/** Only people who may read a confidential issue get mail about it. */
export const issueReadable =
  ({ confidential, ...named }: Secret): Concerned['isReadable'] =>
  (project, actor) =>
    may(actor, 'issue.read', project) && canSeeIssue({ confidential: confidential ? 1 : 0, ...named }, project, actor)

/** The mails about a change of an issue; none when it no longer exists. */
export async function issueNotices(told: Published<'issue.changed'>): Promise<readonly Notice<'issue'>[]> {
  const { issue, action, by, changes = {}, moved } = told.event
  // Not specified: a move. It causes one mail, about the new issue.
  const events = moved && action === 'close' ? [] : eventsOf(action, changes)
  if (events.length === 0) return []
  const [project, now] = await Promise.all([readProject(issue.project_id), findToldIssue(issue.id)])
  if (!project || !now) return []
  const isReadable = issueReadable({ ...now, confidential: issue.confidential || now.confidential === 1 })
  const rest = {
    project: pathOf(project),
    url: urlOf(project, `issues/${issue.iid}`),
    reference: `#${issue.iid}`,
    answers: { type: 'Issue' as const, id: issue.id }
  }
  const labelIds = events.includes('new') ? await labelsOf('Issue', issue.id) : (changes.labels?.added ?? [])
  const mentionsOf = await mentionsBy(events, now, changes)
  return events.filter(isOfIssues).map(event => ({
    event: EVENTS[event],
    once: `${told.id} ${event}`,
    actorId: by,
    concerned: {
      project,
      target: { type: 'Issue', id: issue.id },
      named: namedBy(event, issue, changes),
      mentions: mentionsOf(event),
      labelIds: event === 'new' || event === 'label' ? labelIds : [],
      isReadable
    },
    mail: { kind: 'issue', thread: `issue_${issue.id}` },
    facts: () =>
      recordFacts({ event, by, words: 'the issue', record: issue, changes, description: now.description, rest })
  }))
}
