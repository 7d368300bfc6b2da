import { may } from '../../../../access/authorize.js'
import type { Published } from '../../../ground/activity/events.js'
import { findMergeRequest } from '../../../planning/merge-requests/merge-requests.queries.js'
import { readPushed } from '../../../planning/merge-requests/versions/pushed.js'
import type { Concerned } from '../people.queries.js'
import type { MailEvent } from '../recipients.js'
import { moreOfNew } from './new-merge-request.js'
import { type Notice, pathOf, readProject, urlOf } from './notice.js'
import { labelsOf } from './record-labels.queries.js'
import {
  eventsOf,
  type MergeRequestEvent,
  type More,
  mentionsBy,
  namedBy,
  type RecordEvent,
  recordFacts
} from './records.js'

const EVENTS: { readonly [Event in RecordEvent]: MailEvent } = {
  new: 'new_merge_request',
  close: 'close_merge_request',
  reopen: 'reopen_merge_request',
  merge: 'merge_merge_request',
  reassign: 'reassign_merge_request',
  label: 'label_added',
  push: 'update_merge_request',
  target: 'update_merge_request',
  wait: 'update_merge_request',
  cancel: 'update_merge_request',
  mention: 'mentioned'
}

export const mergeRequestReadable: Concerned['isReadable'] = (project, actor) =>
  may(actor, 'merge_request.read', project)

/** The mails about a change of a merge request; none when it no longer exists. */
export async function mergeRequestNotices(
  told: Published<'merge_request.changed'>
): Promise<readonly Notice<'merge-request'>[]> {
  const { mergeRequest: record, action, by, changes = {}, byItself } = told.event
  const events = [...storyOf(told), ...eventsOf(action, changes)]
  if (events.length === 0) return []
  const { id, iid, target_project_id: projectId } = record
  const [project, now] = await Promise.all([readProject(projectId), findMergeRequest(id)])
  if (!project || !now) return []
  const rest = {
    project: pathOf(project),
    url: urlOf(project, `merge_requests/${iid}`),
    reference: `!${iid}`,
    answers: { type: 'MergeRequest' as const, id }
  }
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
    facts: async () => {
      const more = event === 'new' ? await moreOfNew(project, record) : await moreOf(event, told)
      return recordFacts({
        event,
        by,
        words: 'the merge request',
        record,
        changes,
        description: now.description,
        rest,
        more
      })
    }
  }))
}

/** The events that only merge requests have. A push that also cancels the automatic merge is one event. */
function storyOf({ event }: Published<'merge_request.changed'>): readonly MergeRequestEvent[] {
  const { oldrev, changes: { target_branch: target, automatic_merge: waits } = {} } = event
  if (oldrev !== undefined) return ['push']
  return [
    ...(target ? ['target' as const] : []),
    ...(waits === undefined ? [] : ([waits ? 'wait' : 'cancel'] as const))
  ]
}

/** What the mail shows in addition to what the mails of all records show. */
async function moreOf(event: RecordEvent, { event: told }: Published<'merge_request.changed'>): Promise<More> {
  const { mergeRequest, oldrev, changes: { target_branch: target, automatic_merge: waits } = {} } = told
  if (event === 'target' && target) return { lines: [`Target branch: ${target[0]} before, ${target[1]} now`] }
  if (event !== 'push' || oldrev === undefined) return { lines: [] }
  const pushed = await readPushed(mergeRequest, oldrev)
  const canceled = waits === false ? ['The automatic merge was canceled'] : []
  if (!pushed) return { lines: canceled }
  const { summary, lines } = pushed
  return { verb: lines.length === 0 ? `${summary}, in` : `${summary} to`, lines: [...lines, ...canceled] }
}
