// Reads pending mails, failed mails, and addresses that get no mail.

import { marks, row, rows } from '../../../db/connect/sql.js'
import { type Page, window } from '../../../db/lists/paginate.js'
import { DELIVERY_STATES, type DeliveryState } from './deliveries.queries.js'

export interface MailRow {
  readonly id: number
  readonly kind: string
  readonly address: string
  readonly reason: string
  readonly state: DeliveryState
  readonly attempts: number
  readonly error: string | null
  readonly created_at: Date
  readonly tried_at: Date | null
  readonly sent_at: Date | null
}

export interface BounceRow {
  readonly address: string
  readonly error: string
  readonly bounced_at: Date
}

export interface MailQueue {
  readonly waiting: number
  readonly held: number
  readonly failed: number
  readonly bounced: number
  /** Mails that wait after a failed try, or were given up. */
  readonly troubled: readonly MailRow[]
}

/** How many troubled mails are shown, and how many of each state are searched for them. */
const MOST = 20
const SEARCHED = 500
/** How many entries of a list can be paged through. */
const DEEPEST = 10_000

const COLUMNS = 'd.id, m.kind, d.address, d.reason, d.state, d.attempts, d.error, d.created_at, d.tried_at, d.sent_at'

/** Counts deliveries by state. */
export async function countMails(): Promise<Map<DeliveryState, number>> {
  const found = await rows<{ state: DeliveryState; count: number }>(
    'select state, count(*) as count from mail_deliveries group by state'
  )
  return new Map([
    ...DELIVERY_STATES.map(state => [state, 0] as const),
    ...found.map(({ state, count }) => [state, Number(count)] as const)
  ])
}

export async function countBounces(): Promise<number> {
  return Number((await row<{ count: number }>('select count(*) as count from mail_bounces'))?.count ?? 0)
}

/** Returns everything about the mail that the dashboard shows. */
export async function mailQueue(): Promise<MailQueue> {
  const [counts, bounced, troubled] = await Promise.all([countOpen(), countBounces(), troubledMails()])
  const of = (state: DeliveryState) => counts.get(state) ?? 0
  return { waiting: of('waiting') + of('sending'), held: of('held'), failed: of('failed'), bounced, troubled }
}

/** Counts without the mails that were sent, which are the majority. */
async function countOpen(): Promise<Map<DeliveryState, number>> {
  const found = await rows<{ state: DeliveryState; count: number }>(
    `select state, count(*) as count from mail_deliveries
     where state in ('waiting', 'sending', 'held', 'failed') group by state`
  )
  return new Map(found.map(({ state, count }) => [state, Number(count)]))
}

function troubledMails(): Promise<MailRow[]> {
  const newest = (state: DeliveryState) =>
    `(select id from mail_deliveries where state = '${state}' order by id desc limit ${SEARCHED})`
  return rows<MailRow>(
    `select ${COLUMNS} from (${newest('waiting')} union all ${newest('failed')}) some
       join mail_deliveries d on d.id = some.id join mails m on m.id = d.mail_id
     where d.error is not null order by d.id desc limit ${MOST}`
  )
}

/** Lists deliveries in some states, newest first. */
export async function listMails(
  states: readonly DeliveryState[],
  query: { readonly page: number; readonly per_page: number }
): Promise<Page<MailRow>> {
  const { page, perPage, sql } = window(query)
  // An index has the deliveries of one state in the order of their ids, so only these few are sorted.
  const newest = `(select id from mail_deliveries where state = ? order by id desc limit ${Math.min(page * perPage, DEEPEST)})`
  const [found, items] = await Promise.all([
    row<{ total: number }>(`select count(*) as total from mail_deliveries where state in (${marks(states)})`, states),
    rows<MailRow>(
      `select ${COLUMNS} from (${states.map(() => newest).join(' union all ')} order by id desc ${sql}) page
         join mail_deliveries d on d.id = page.id join mails m on m.id = d.mail_id order by d.id desc`,
      states
    )
  ])
  return { items, total: Number(found?.total ?? 0), page, perPage }
}

/** Lists addresses that get no mail, newest first, at most 1,000. */
export const listBounces = (): Promise<BounceRow[]> =>
  rows<BounceRow>('select address, error, bounced_at from mail_bounces order by bounced_at desc, address limit 1000')
