// A notice: one event that may cause mail, the people whom it may concern, and what the mail shows.
import { nobody } from '../../../../access/actor.js'
import { publicUrl } from '../../../../config.js'
import { askTogether } from '../../../../db/connect/batching.js'
import { marks, padded, rows } from '../../../../db/connect/sql.js'
import type { MailFacts, MailKind } from '../../../../mail/kinds.js'
import { mentionedMembers } from '../../../planning/participation/mentioned-members.js'
import { findProject, type ProjectRow } from '../../../projects/projects/projects.queries.js'
import { type NewMail, queueMail } from '../../mail/outbox.js'
import { type Concerned, readOthers } from '../people.queries.js'
import { type MailEvent, recipientsOf } from '../recipients.js'

export interface Notice<Kind extends MailKind = MailKind> {
  readonly event: MailEvent
  /** Unique to the notice. */
  readonly once: string
  readonly actorId: number | null
  readonly byItself?: boolean
  readonly concerned: Concerned
  readonly mail: Pick<NewMail<Kind>, 'kind' | 'thread'>
  /** Only called when there is a recipient. */
  readonly facts: () => Promise<MailFacts[Kind]>
}

/** Queues the mails of one event, in this order. A recipient of another mail gets no mail about a mention, because all mails show it. */
export async function sendNotices(notices: readonly Notice[]): Promise<void> {
  const reached = new Set<number>()
  for (const notice of notices) {
    const told = await sendNotice(notice, notice.event === 'mentioned' ? reached : new Set())
    for (const id of told) reached.add(id)
  }
}

/** Queues the mail of a notice for all whom it concerns, except the given users. Returns the recipients. A second call queues nothing. */
export async function sendNotice<Kind extends MailKind>(
  notice: Notice<Kind>,
  but: ReadonlySet<number> = new Set()
): Promise<readonly number[]> {
  const { event, once, actorId, byItself, mail } = notice
  const concerned = await withMembers(notice)
  const people = await readOthers(concerned, byItself ? null : actorId)
  const addresses = new Map(people.map(({ id, address }) => [id, address]))
  const recipients = recipientsOf(event, { actorId, byItself, people }).flatMap(({ userId, reason }) => {
    const address = addresses.get(userId)
    return address && !but.has(userId) ? [{ userId, address, reason }] : []
  })
  if (recipients.length === 0) return []
  const { project, target } = concerned
  await queueMail<Kind>({
    ...mail,
    once,
    authorId: actorId,
    facts: await notice.facts(),
    list: { projectId: project.id, ...(target && { target: { ...target, projectId: project.id } }) },
    recipients
  })
  return recipients.map(({ userId }) => userId)
}

/** Decided: `@all` and `@group` mean each member whom the author may reach. */
async function withMembers({ actorId, concerned }: Notice): Promise<Concerned> {
  const { mentions = [], project } = concerned
  if (actorId === null || mentions.length === 0) return concerned
  return { ...concerned, mentionedMembers: await mentionedMembers(mentions, actorId, project.id) }
}

/** Reads a project without checking anyone's rights; undefined when it no longer exists. */
export const readProject: (id: number) => Promise<ProjectRow | undefined> = askTogether(id => findProject(id, nobody))

export const pathOf = ({ namespace_path: namespace, path }: ProjectRow): string => `${namespace}/${path}`
export const urlOf = (project: ProjectRow, page: string): string => `${publicUrl()}/${pathOf(project)}/${page}`

export interface Names {
  /** Returns `NAME (@USERNAME)`, with placeholders for null and for deleted users. */
  readonly full: (id: number | null) => string
  /** Returns the name; null for null and for deleted users. */
  readonly short: (id: number | null) => string | null
}

export async function readNames(ids: readonly (number | null | undefined)[]): Promise<Names> {
  const known = [...new Set(ids)].filter(id => id !== null && id !== undefined)
  const list = padded(known)
  const found =
    known.length === 0
      ? []
      : await rows<{ id: number; name: string; username: string }>(
          `select id, name, username from users where id in (${marks(list)})`,
          list
        )
  const users = new Map(found.map(user => [user.id, user]))
  const full = (id: number) => {
    const user = users.get(id)
    return user ? `${user.name} (@${user.username})` : 'somebody'
  }
  return {
    full: id => (id === null ? 'nobody' : full(id)),
    short: id => (id === null ? null : (users.get(id)?.name ?? null))
  }
}
