// Mails beyond the hourly limit arrive as one mail at the end of the hour.
import { createHash } from 'node:crypto'
import { publicUrl } from '../../../config.js'
import { marks, rows } from '../../../db/connect/sql.js'
import { renderText } from '../../../mail/render.js'
import { DELIVERY, type DeliveryRow } from './deliveries.queries.js'
import { queueMailAt } from './outbox.js'
import { cutText } from './payload.js'
import { fillingOf } from './recipient-facts.js'

const HOUR = 3_600_000
/** Milliseconds after the hour: the clock of another worker may be a little late. */
const LATER = 10_000
/** How many mails one digest covers, and how many of them it shows. */
const MOST = 10_000
const MOST_SHOWN = 50
/** The limit of characters of each mail. */
const LONGEST = 3000

/** Returns the start of the hour that contains a moment. */
export const hourOf = (at: number): Date => new Date(Math.floor(at / HOUR) * HOUR)

/** Queues the digest of this hour, once for each address. Call it in the transaction that holds a mail. */
export async function queueDigest(to: { readonly user_id: number | null; readonly address: string }): Promise<void> {
  const hour = hourOf(Date.now())
  const address = createHash('sha256').update(to.address).digest('hex').slice(0, 32)
  await queueMailAt(
    {
      once: `digest ${hour.toISOString()} ${to.user_id ?? ''} ${address}`,
      kind: 'digest',
      facts: {},
      recipients: [{ userId: to.user_id, address: to.address, reason: 'digest' }]
    },
    new Date(hour.getTime() + HOUR + LATER)
  )
}

interface HeldText {
  readonly subject: string
  readonly text: string
}

export interface Held {
  /** The deliveries that the digest covers. */
  readonly ids: readonly number[]
  /** What the templates show. */
  readonly filled: { readonly total: number; readonly mails: readonly HeldText[] }
}

/** Returns the mails that are held for a recipient, oldest first; null when there are none. */
export async function heldFor({ user_id: userId, address }: DeliveryRow): Promise<Held | null> {
  const found = await rows<{ id: number }>(
    `select id from mail_deliveries where address = ? and state = 'held' and user_id <=> ? order by id limit ${MOST}`,
    [address, userId]
  )
  if (found.length === 0) return null
  const ids = found.map(({ id }) => id)
  const shown = ids.slice(0, MOST_SHOWN)
  const deliveries = await rows<DeliveryRow>(`${DELIVERY} where d.id in (${marks(shown)}) order by d.id`, shown)
  const mails: { subject: string; text: string }[] = []
  for (const delivery of deliveries) {
    const facts = JSON.parse(delivery.facts)
    const filled = await fillingOf(delivery.kind, facts, { userId, address })
    if (filled === null) continue
    const { subject, body } = renderText(delivery.kind, {
      facts,
      filled,
      url: publicUrl(),
      recipient: { name: delivery.name, address },
      reason: delivery.reason,
      unsubscribeUrl: null
    })
    mails.push({ subject, text: cutText(body, LONGEST) })
  }
  return { ids, filled: { total: ids.length, mails } }
}
