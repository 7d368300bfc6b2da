import { may } from '../../../../access/authorize.js'
import type { Published } from '../../../ground/activity/events.js'
import { findMergeRequest } from '../../../planning/merge-requests/merge-requests.queries.js'
import type { Concerned } from '../people.queries.js'
import type { MailEvent } from '../recipients.js'
import { type Notice, pathOf, readProject, urlOf } from './notice.js'
import { labelsOf } from './record-labels.queries.js'
import { eventsOf, mentionsBy, namedBy, type RecordEvent, recordFacts } from './records.js'

const EVENTS: { readonly [Event in RecordEvent]: MailEvent } = {
  new: 'new_merge_request',
  close: 'close_merge_request',
  reopen: 'reopen_merge_request',
  merge: 'merge_merge_request',
  reassign: 'reassign_merge_request',
  label: 'label_added',
  mention: 'mentioned'
}

export const mergeRequestReadable: Concerned['isReadable'] = (project, actor) =>
  may(actor, 'merge_request.read', project)

/** The mails about a change of a merge request; none when it no longer exists. */
export async function mergeRequestNotices(
  told: Published<'merge_request.changed'>
): Promise<readonly Notice<'merge-request'>[]> {
  const { mergeRequest: record, action, by, changes = {}, byItself } = told.event
  const events = eventsOf(action, changes)
  if (events.length === 0) return []
  const { id, iid, target_project_id: projectId } = record
  const [project, now] = await Promise.all([readProject(projectId), findMergeRequest(id)])
  if (!project || !now) return []
  const rest = { project: pathOf(project), url: urlOf(project, `merge_requests/${iid}`), reference: `!${iid}` }
  const labelIds = events.includes('new') ? await labelsOf('MergeRequest', id) : (changes.labels?.added ?? [])
  const mentionsOf = await mentionsBy(events, now, changes)
  return events.map(event => ({
    event: EVENTS[event],
    once: `${told.id} ${event}`,
    actorId: by,
    byItself,
    concerned: {
      project,
      target: { type: 'MergeRequest', id },
      named: namedBy(event, record, changes),
      mentions: mentionsOf(event),
      labelIds: event === 'new' || event === 'label' ? labelIds : [],
      isReadable: mergeRequestReadable
    },
    mail: { kind: 'merge-request', thread: `merge_request_${id}` },
    facts: () =>
      recordFacts({ event, by, words: 'the merge request', record, changes, description: now.description, rest })
  }))
}
