import { marks, row, type Value } from '../../../db/connect/sql.js'
import type { MailKind } from '../../../mail/kinds.js'
import { DORMANT } from '../../people/users/suspension.js'
import type { TargetType } from '../../planning/participation/targets.js'

/** Pending, being sent, held until the end of the hour, sent on its own, sent in a digest, given up, and no longer needed. */
export const DELIVERY_STATES = ['waiting', 'sending', 'held', 'sent', 'digested', 'failed', 'canceled'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

export interface DeliveryRow {
  readonly id: number
  readonly user_id: number | null
  readonly address: string
  readonly reason: string
  readonly state: DeliveryState
  readonly attempts: number
  readonly created_at: Date
  /** When the last try began; null before the first one. */
  readonly tried_at: Date | null
  readonly kind: MailKind
  readonly facts: string
  readonly thread: string | null
  readonly always: number
  readonly author_id: number | null
  readonly project_id: number | null
  readonly target_type: TargetType | null
  readonly target_id: number | null
  readonly path: string | null
  readonly name: string | null
  /** The state of the user; null when there is no such user. A dormant user may ask for a new password, and counts as active. */
  readonly user_state: string | null
  /** Whether the user still has the address. */
  readonly owned: number
  readonly bounced: number
}

/** Reads everything that decides about one delivery, in one statement. */
export const DELIVERY = `select d.id, d.user_id, d.address, d.reason, d.state, d.attempts, d.created_at, d.tried_at,
    m.kind, m.facts, m.thread, m.always, m.author_id, m.project_id, m.target_type, m.target_id,
    concat(n.path, '/', p.path) as path, u.name, if(u.block_reason = '${DORMANT}', 'active', u.state) as user_state,
    (coalesce(u.email_key = lower(d.address), false)
      or exists (select 1 from emails e where e.user_id = d.user_id and e.email_key = lower(d.address))) as owned,
    exists (select 1 from mail_bounces b where b.address = lower(d.address)) as bounced
  from mail_deliveries d
    join mails m on m.id = d.mail_id
    left join users u on u.id = d.user_id
    left join projects p on p.id = m.project_id
    left join namespaces n on n.id = p.namespace_id`

export const findDelivery = (id: number): Promise<DeliveryRow | undefined> =>
  row<DeliveryRow>(`${DELIVERY} where d.id = ?`, [id])

/** Reasons of mail that asks its recipient for something. */
export const PERSONAL = ['mentioned', 'assignee', 'previous_assignee'] as const

/** Returns whether an address got `most` mails since a moment, without security mail. */
export const gotMails = (address: string, since: Date, most: number): Promise<boolean> =>
  isReached(most, 'not m.always', address, since)

/** Does the same for personal mails that one person caused; null means commands. */
export const gotPersonalMails = (
  address: string,
  since: Date,
  most: number,
  authorId: number | null
): Promise<boolean> =>
  isReached(most, `d.reason in (${marks(PERSONAL)}) and m.author_id <=> ?`, address, since, ...PERSONAL, authorId)

async function isReached(most: number, which: string, ...values: Value[]): Promise<boolean> {
  const found = await row<{ total: number }>(
    `select count(*) as total from (select 1 from mail_deliveries d join mails m on m.id = d.mail_id
     where d.address = ? and d.state = 'sent' and d.sent_at >= ? and ${which} limit ${most}) as some`,
    values
  )
  return Number(found?.total ?? 0) >= most
}
