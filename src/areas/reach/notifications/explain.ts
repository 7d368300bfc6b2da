// Explains for one user which settings apply in a project, and which events cause mail, and why.
import { may } from '../../../access/authorize.js'
import { row } from '../../../db/connect/sql.js'
import { BadRequest, NoSuch } from '../../../errors.js'
import { reasonText } from '../../../mail/reasons.js'
import { findIssueByNumber } from '../../planning/issues/issues.queries.js'
import { findByNumber } from '../../planning/merge-requests/merge-requests.queries.js'
import { type ProjectRow, requireProject } from '../../projects/projects/projects.queries.js'
import { EVENTS, type EventName } from './levels.js'
import { issueReadable } from './notices/issues.js'
import { mergeRequestReadable } from './notices/merge-requests.js'
import { pathOf } from './notices/notice.js'
import { labelsOf } from './notices/record-labels.queries.js'
import { type Candidate, type Concerned, readPeople, withoutPipelines } from './people.queries.js'
import { judge, type MailEvent, type Refusal } from './recipients.js'

interface ExplainedEvent {
  readonly event: MailEvent
  readonly mail: boolean
  readonly why: string
}

export interface Explanation {
  readonly user: string
  readonly target: string
  readonly settings: { readonly project: string; readonly group: string | null; readonly global: string }
  readonly applied: { readonly level: string; readonly from: string; readonly events: readonly string[] }
  readonly member: boolean
  readonly reads: boolean
  /** The roles that the user has in the target. */
  readonly roles: readonly string[]
  readonly address: string | null
  /** Events that other users cause, with texts that do not mention the user. */
  readonly events: readonly ExplainedEvent[]
}

/** Events that are judged by the same facts. */
interface Part {
  readonly events: readonly MailEvent[]
  readonly concerned: Concerned
}

/** Throws NoSuch, and BadRequest for a text that names no target. */
export async function explainNotifications(
  user: { readonly id: number; readonly username: string },
  target: string
): Promise<Explanation> {
  const [, path = '', sign, number] = /^([^#!]+)(?:([#!])(\d{1,10}))?$/.exec(target) ?? []
  if (path === '') throw new BadRequest('expected GROUP/PROJECT, GROUP/PROJECT#ISSUE or GROUP/PROJECT!MERGE_REQUEST')
  const project = await requireProject(path)
  const parts = number === undefined ? ofProject(project) : [await ofRecord(project, sign ?? '', Number(number))]
  const judged = await Promise.all(parts.map(part => judgePart(part, user.id)))
  const [first] = judged
  if (!first) throw new NoSuch('user', user.username)
  const { person } = first
  return {
    user: user.username,
    target: number === undefined ? pathOf(project) : `${pathOf(project)}${sign}${number}`,
    settings: { ...person.set, group: project.namespace_kind === 'group' ? person.set.group : null },
    applied: { ...person.applied, events: person.applied.level === 'custom' ? [...person.applied.events] : [] },
    member: person.isMember,
    reads: judged.some(each => each.person.canRead),
    roles: [...person.roles],
    address: person.address,
    events: inOrder(judged.flatMap(({ events }) => events))
  }
}

async function judgePart({ events, concerned }: Part, userId: number) {
  const [person] = await readPeople(concerned, userId)
  if (!person) throw new NoSuch('user', userId)
  const problem = await problemOf(person.address)
  return { person, events: events.map(event => explain(event, person, problem)) }
}

/** Returns why no mail reaches an address, whatever the event is; undefined when mail can. */
async function problemOf(address: string | null): Promise<string | undefined> {
  if (address === null) return 'no address of the user is confirmed'
  const bounced = await row('select 1 from mail_bounces where address = lower(?)', [address])
  return bounced === undefined ? undefined : `mail to ${address} has bounced`
}

function explain(event: MailEvent, person: Candidate, problem: string | undefined): ExplainedEvent {
  const verdict = judge(event, person, { actorId: null })
  if (!verdict.mail) return { event, mail: false, why: refusalText(event, verdict.refusal, person) }
  if (problem !== undefined) return { event, mail: false, why: problem }
  return { event, mail: true, why: reasonText(verdict.reason) }
}

const REFUSALS: { readonly [Why in Exclude<Refusal, 'level'>]: string } = {
  actor: 'users get no mail about their own actions',
  blocked: 'the user is blocked',
  unreadable: 'the user may not read it',
  unsubscribed: 'the user has unsubscribed from it',
  disabled: 'the level is disabled'
}

function refusalText(event: MailEvent, refusal: Refusal, { applied }: Candidate): string {
  if (refusal !== 'level') return REFUSALS[refusal]
  if (event === 'label_added') return 'the user has not subscribed to a label of it'
  return `the level ${applied.level} of the ${PLACES[applied.from]} does not include it`
}

const PLACES = { project: 'project', group: 'group', global: 'user' } as const

const inOrder = (events: readonly ExplainedEvent[]): readonly ExplainedEvent[] => {
  const places = new Map<MailEvent, number>(EVENTS.map((name, at) => [name, at]))
  return [...events].sort((a, b) => (places.get(a.event) ?? EVENTS.length) - (places.get(b.event) ?? EVENTS.length))
}

const eventsOf = (word: string): readonly EventName[] => EVENTS.filter(name => name.includes(word))

function ofProject(project: ProjectRow): readonly Part[] {
  const part = (
    events: readonly MailEvent[],
    isReadable: Concerned['isReadable'],
    unsubscribed?: Concerned['unsubscribed']
  ): Part => ({ events, concerned: { project, named: [], isReadable, ...(unsubscribed && { unsubscribed }) } })
  return [
    part([...eventsOf('note'), ...eventsOf('issue')], (of, actor) => may(actor, 'issue.read', of)),
    part(eventsOf('merge_request'), mergeRequestReadable),
    part(eventsOf('pipeline'), (of, actor) => may(actor, 'pipeline.read', of), withoutPipelines(project.id))
  ]
}

async function ofRecord(project: ProjectRow, sign: string, number: number): Promise<Part> {
  if (sign === '#') {
    const issue = await findIssueByNumber(project.id, number)
    if (!issue) throw new NoSuch('issue', number)
    return partOf(project, 'Issue', issue, issueReadable({ ...issue, confidential: issue.confidential === 1 }))
  }
  const mergeRequest = await findByNumber(project.id, number)
  if (!mergeRequest) throw new NoSuch('merge request', number)
  return partOf(project, 'MergeRequest', mergeRequest, mergeRequestReadable)
}

interface NamedRecord {
  readonly id: number
  readonly author_id: number
  readonly assignee_id: number | null
}

async function partOf(
  project: ProjectRow,
  type: 'Issue' | 'MergeRequest',
  { id, author_id: author, assignee_id: assignee }: NamedRecord,
  isReadable: Concerned['isReadable']
): Promise<Part> {
  const events = eventsOf(type === 'Issue' ? 'issue' : 'merge_request')
  return {
    events: [
      'new_note',
      ...events.filter(name => !name.startsWith('new_')),
      'label_added',
      ...(type === 'MergeRequest' ? (['update_merge_request'] as const) : [])
    ],
    concerned: {
      project,
      target: { type, id },
      named: [
        ['author', author],
        ['assignee', assignee]
      ],
      labelIds: await labelsOf(type, id),
      isReadable
    }
  }
}
