import { marks, oldRows, row, rows, type Value } from '../../../db/connect/sql.js'
import { countTotal, PART, type Page, window } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'
import { DELIVERY_STATES, type DeliveryListQuery } from './deliveries.schema.js'

export interface DeliveryRow {
  readonly id: number
  readonly hook_id: number
  readonly event_key: string
  readonly event: string
  readonly state: (typeof DELIVERY_STATES)[number]
  readonly attempts: number
  readonly created_at: Date
  readonly finished_at: Date | null
  /** This and the next three describe the last attempt; null before the first one. */
  readonly last_started_at: Date | null
  readonly last_duration_ms: number | null
  readonly last_status: number | null
  readonly last_error: string | null
}

export interface DeliveryDetailsRow extends DeliveryRow {
  readonly payload: string
}

export interface AttemptRow {
  readonly attempt: number
  readonly started_at: Date
  readonly duration_ms: number
  readonly status: number | null
  readonly error: string | null
  readonly request_headers: string
  readonly response_headers: string
  readonly response_body: string
}

const COLUMNS = `d.id, d.hook_id, d.event_key, d.event, d.state, d.attempts, d.created_at, d.finished_at,
  a.started_at as last_started_at, a.duration_ms as last_duration_ms, a.status as last_status, a.error as last_error`
const LAST = 'left join hook_attempts a on a.id = (select max(l.id) from hook_attempts l where l.delivery_id = d.id)'

/** Pages after this many rows are empty: each page costs as much as all pages before it, and nobody reads that far. */
const DEEPEST = 100_000

/** Returns a page of the deliveries of a hook, newest first. */
export async function listDeliveries(hookId: number, query: DeliveryListQuery): Promise<Page<DeliveryRow>> {
  const { page, perPage, sql } = window(query)
  const states = query.state ? [query.state] : DELIVERY_STATES
  const ofEvent = query.event === undefined ? '' : ' and event = ?'
  const values = (state: string): Value[] => [hookId, state, ...(query.event === undefined ? [] : [query.event])]
  // An index has the deliveries of one hook and state in the order of their ids, so only these few rows are sorted.
  const newest = `(select id from hook_deliveries where hook_id = ? and state = ?${ofEvent}
    order by id desc limit ${Math.min(page * perPage, DEEPEST)})`
  const [total, items] = await Promise.all([
    countTotal(
      `select count(*) as total from hook_deliveries
       where hook_id = ? and state in (${marks(states)})${ofEvent}`,
      [hookId, ...states, ...values('').slice(2)]
    ),
    oldRows<DeliveryRow>(
      `select ${COLUMNS} from (${states.map(() => newest).join(' union all ')} order by id desc ${sql}) page
       join hook_deliveries d on d.id = page.id ${LAST} order by page.id desc`,
      states.flatMap(values)
    )
  ])
  return { items, total, page, perPage }
}

/** Returns the next part of the deliveries of a hook: those with a lower id than `before`, newest first. */
export function deliveriesBefore(hookId: number, state: DeliveryRow['state'] | undefined, before: number) {
  const states = state ? [state] : DELIVERY_STATES
  const newest = `(select id from hook_deliveries where hook_id = ? and state = ? and id < ? order by id desc limit ${PART})`
  return rows<DeliveryRow>(
    `select ${COLUMNS} from (${states.map(() => newest).join(' union all ')} order by id desc limit ${PART}) page
     join hook_deliveries d on d.id = page.id ${LAST} order by page.id desc`,
    states.flatMap(one => [hookId, one, before])
  )
}

/** Returns a delivery. Throws NotFound, also when `hookId` is given and the delivery belongs to another hook. */
export async function findDelivery(id: number, hookId?: number): Promise<DeliveryDetailsRow> {
  const found = await row<DeliveryDetailsRow>(
    `select ${COLUMNS}, d.payload from hook_deliveries d ${LAST} where d.id = ?`,
    [id]
  )
  if (!found || (hookId !== undefined && found.hook_id !== hookId))
    throw new NotFound(hookId === undefined ? `Delivery ${id}` : 'Delivery')
  return found
}

/** Returns all attempts of a delivery, oldest first. */
export function listAttempts(deliveryId: number): Promise<AttemptRow[]> {
  return rows<AttemptRow>(
    `select attempt, started_at, duration_ms, status, error, request_headers, response_headers, response_body
     from hook_attempts where delivery_id = ? order by id`,
    [deliveryId]
  )
}

/** Returns the ids of the dead deliveries of a hook that were not redelivered, oldest first. */
export async function listLostDeliveries(hookId: number): Promise<number[]> {
  const [dead, repeated] = await Promise.all([
    rows<{ id: number }>("select id from hook_deliveries where hook_id = ? and state = 'dead' order by id", [hookId]),
    rows<{ id: string }>(
      `select distinct substring_index(substring(event_key, 12), ':', 1) as id from hook_deliveries
       where hook_id = ? and event_key like 'redelivery:%' and state <> 'canceled'`,
      [hookId]
    )
  ])
  const done = new Set(repeated.map(({ id }) => Number(id)))
  return dead.map(({ id }) => id).filter(id => !done.has(id))
}
