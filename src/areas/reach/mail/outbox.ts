// The outbox. A mail is a row, each recipient is a delivery, and each delivery has a job. All of them commit with the change that
// caused the mail. The mail server is contacted later.
import { execute, insertedIds, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { batches } from '../../../lib/batches.js'
import type { MailFacts, MailKind } from '../../../mail/kinds.js'
import { enqueueAll } from '../../../queue/enqueue.js'
import { isAddress } from '../../people/users/emails.js'
import type { Target } from '../../planning/participation/targets.js'
import { factsText } from './payload.js'

export interface Recipient {
  /** Null for an address without a user, such as one in the settings of a service. */
  readonly userId: number | null
  readonly address: string
  /** The name of a reason in mail/reasons.ts. */
  readonly reason: string
}

export interface NewMail<Kind extends MailKind = MailKind> {
  /** Unique to the mail, such as `HAPPENING_ID issue`: the mail is queued once for each recipient, however often this is called. */
  readonly once: string
  readonly kind: Kind
  /** What the templates show. Stored once for all recipients. Texts are cut to fit into 64 KiB (payload.ts). */
  readonly facts: MailFacts[Kind]
  /** Mails about the same issue, merge request and so on are one conversation: `issue_12`. */
  readonly thread?: string
  /**
   * For List-Id and List-Unsubscribe; absent for security mail. One click ends the mail about `target`, or without it about the
   * project; in mail about a pipeline, about the pipelines of the project.
   */
  readonly list?: { readonly projectId: number; readonly target?: Target }
  readonly recipients: readonly Recipient[]
  /** The person who caused the mail; null for commands. One person can send an address only so many mentions in an hour. */
  readonly authorId?: number | null
  /** Security mail: it is never limited, put into a digest, or stopped by a bounce. */
  readonly always?: boolean
}

/** Jobs of security mail start before all others, because a person waits for the link. */
export const SOON = 10
const BATCH = 500
/** The limits of the columns. `insert ignore` would cut longer values silently. */
const LONGEST_ONCE = 150
const THREAD = /^[\w.-]{1,64}$/
const LONGEST_REASON = 255
/** In bytes, as SMTP limits it. */
const LONGEST_ADDRESS = 254
const LONGEST_LOCAL_PART = 64

/**
 * Queues a mail. Call it inside `transact` or in a listener. A second call with the same `once` adds only new recipients. An
 * address that no server would accept becomes a failed delivery.
 */
export async function queueMail<Kind extends MailKind>(mail: NewMail<Kind>): Promise<void> {
  await queueMailAt(mail, undefined)
}

/** Like `queueMail`, but sends the mail at the given moment. */
export async function queueMailAt<Kind extends MailKind>(mail: NewMail<Kind>, runAt: Date | undefined): Promise<void> {
  if (mail.once.length > LONGEST_ONCE) throw new Error('the name of a mail is too long')
  if (mail.thread !== undefined && !THREAD.test(mail.thread)) throw new Error('the name of a conversation is not valid')
  if (mail.recipients.length === 0) return
  const facts = factsText(mail.facts)
  await transact(async () => {
    const now = new Date()
    const { id, isNew } = await mailId(mail, facts, now)
    // The lock on the mail keeps other transactions from adding recipients at the same time.
    const before = isNew
      ? []
      : await rows<{ address: string }>('select address from mail_deliveries where mail_id = ?', [id])
    const known = new Set(before.map(({ address }) => address.toLowerCase()))
    const fresh = withoutDoubles(mail.recipients, known)
    const inserted: (readonly number[] | null)[] = []
    for (const some of batches(fresh, BATCH)) inserted.push(await insertDeliveries(id, some, now))
    const addresses = before.length === 0 ? null : new Set(fresh.map(({ address }) => address))
    const added = inserted.every(ids => ids !== null) ? inserted.flat() : await waiting(id, addresses)
    await enqueueAll(
      'mail.send',
      added.map(deliveryId => ({ deliveryId })),
      { runAt, ...(mail.always && { priority: SOON }) }
    )
  })
}

/** Inserts the mail unless it exists, and locks it. */
async function mailId(
  mail: NewMail,
  facts: string,
  now: Date
): Promise<{ readonly id: number; readonly isNew: boolean }> {
  const { list, always = false } = mail
  const { affectedRows, insertId } = await execute(
    `insert ignore into mails (once, kind, facts, thread, project_id, target_type, target_id, author_id, always, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      mail.once,
      mail.kind,
      facts,
      mail.thread ?? null,
      list?.projectId ?? null,
      list?.target?.type ?? null,
      list?.target?.id ?? null,
      mail.authorId ?? null,
      always,
      now
    ]
  )
  if (affectedRows === 1) return { id: insertId, isNew: true }
  const found = await row<{ id: number }>('select id from mails where once = ? for update', [mail.once])
  if (!found) throw new Error('a mail was not stored')
  return { id: found.id, isNew: false }
}

function withoutDoubles(recipients: readonly Recipient[], known: ReadonlySet<string>): Recipient[] {
  const all = new Map<string, Recipient>()
  for (const recipient of recipients) {
    const address = recipient.address.slice(0, 255)
    const key = address.toLowerCase()
    if (!known.has(key) && !all.has(key)) all.set(key, { ...recipient, address })
  }
  return [...all.values()]
}

/** Returns the ids of the pending deliveries; null when some rows existed, so the ids are unknown. */
async function insertDeliveries(
  mailId: number,
  recipients: readonly Recipient[],
  now: Date
): Promise<readonly number[] | null> {
  const { affectedRows, insertId } = await execute(
    `insert ignore into mail_deliveries (mail_id, user_id, address, reason, state, error, created_at)
     values ${recipients.map(() => '(?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
    recipients.flatMap(({ userId, address, reason }) => [
      mailId,
      userId,
      address,
      reason.slice(0, LONGEST_REASON),
      ...(isSendable(address) ? ['waiting', null] : ['failed', 'the address is not valid']),
      now
    ])
  )
  if (affectedRows < recipients.length) return null
  const ids = await insertedIds(insertId, recipients.length)
  return ids.filter((_, at) => isSendable(recipients[at]?.address ?? ''))
}

/** Returns true when a server could accept mail for this address. */
export function isSendable(address: string): boolean {
  const at = address.lastIndexOf('@')
  return (
    isAddress(address) &&
    Buffer.byteLength(address) <= LONGEST_ADDRESS &&
    Buffer.byteLength(address.slice(0, at)) <= LONGEST_LOCAL_PART
  )
}

/** Returns the pending new deliveries: all, or those to the given addresses. */
async function waiting(mailId: number, addresses: ReadonlySet<string> | null): Promise<number[]> {
  const found = await rows<{ id: number; address: string }>(
    "select id, address from mail_deliveries where mail_id = ? and state = 'waiting'",
    [mailId]
  )
  return found.filter(({ address }) => addresses === null || addresses.has(address)).map(({ id }) => id)
}
