import { oldRows, rows, type Value } from '../../../db/connect/sql.js'
import { countTotal, PART, type Page, type PageRequest, window } from '../../../db/lists/paginate.js'

export interface AuditRow {
  readonly id: number
  readonly created_at: Date
  readonly actor_id: number | null
  readonly actor_name: string
  readonly acting_as: string | null
  readonly via: string
  readonly address: string | null
  readonly action: string
  readonly target_type: string
  readonly target_id: string
  readonly target_name: string
  /** The changes as JSON. */
  readonly changes: string
}

export interface AuditFilter {
  readonly actor?: string
  readonly action?: string
  readonly target_type?: string
  readonly target_id?: string
  /** Only sign-ins with this provider, such as `password`. */
  readonly provider?: string
  /** Only sign-ins with this second factor, such as `totp`. */
  readonly factor?: string
  /** From the time `since`, inclusive, to the time `until`, exclusive. */
  readonly since?: Date
  readonly until?: Date
}

const COLUMNS = `e.id, e.created_at, e.actor_id, e.actor_name, e.acting_as, e.via, e.address, e.action, e.target_type,
  e.target_id, e.target_name, e.changes`
/** The index of the actions finds the sign-ins. It compares text, because an older version may have cut the JSON of other rows. */
const SIGNED_IN = "action = 'session.create' and locate(?, changes) > 0"

const CONDITIONS: { readonly [Name in keyof AuditFilter]-?: string } = {
  actor: 'actor_name = ?',
  action: 'action = ?',
  target_type: 'target_type = ?',
  target_id: 'target_id = ?',
  provider: SIGNED_IN,
  factor: SIGNED_IN,
  since: 'created_at >= ?',
  until: 'created_at < ?'
}

/** A page of administrative changes, newest first. */
export async function listAuditEvents(filter: AuditFilter, request: PageRequest): Promise<Page<AuditRow>> {
  const { page, perPage, sql } = window(request)
  const { where, values } = conditions(filter)
  const [total, items] = await Promise.all([
    countTotal(`select count(*) as total from audit_events where ${where}`, values),
    oldRows<AuditRow>(
      `select ${COLUMNS} from (select id from audit_events where ${where} order by id desc ${sql}) page
       join audit_events e on e.id = page.id order by page.id desc`,
      values
    )
  ])
  return { items, total, page, perPage }
}

/** The newest changes, at most `limit` and at most 10,000, and the total number. */
export async function newestAuditEvents(
  filter: AuditFilter,
  limit: number
): Promise<{ items: AuditRow[]; total: number }> {
  const { where, values } = conditions(filter)
  const [total, items] = await Promise.all([
    countTotal(`select count(*) as total from audit_events where ${where}`, values),
    rows<AuditRow>(
      `select ${COLUMNS} from audit_events e where ${where} order by id desc limit ${Math.min(limit, 10_000)}`,
      values
    )
  ])
  return { items, total }
}

/** The next part of such a list: changes with a lower id than `before`. */
export function auditEventsBefore(filter: AuditFilter, before: number): Promise<AuditRow[]> {
  const { where, values } = conditions(filter)
  return rows<AuditRow>(
    `select ${COLUMNS} from audit_events e where ${where} and id < ? order by id desc limit ${PART}`,
    [...values, before]
  )
}

/** The changes of one record, newest first, at most 100. */
export async function eventsOf(targetType: string, targetId: number | string): Promise<AuditRow[]> {
  return rows<AuditRow>(
    `select ${COLUMNS} from audit_events e where target_type = ? and target_id = ? order by id desc limit 100`,
    [targetType, String(targetId)]
  )
}

function conditions(filter: AuditFilter): { where: string; values: Value[] } {
  const names = Object.keys(CONDITIONS) as (keyof AuditFilter)[]
  const active = names.flatMap(name => {
    const value = filter[name]
    return value === undefined ? [] : [{ condition: CONDITIONS[name], value: valueFor(name, value) }]
  })
  return {
    where: active.map(({ condition }) => condition).join(' and ') || '1 = 1',
    values: active.map(({ value }) => value)
  }
}

const valueFor = (name: keyof AuditFilter, value: string | Date): Value =>
  name === 'provider' || name === 'factor' ? `"${name}":{"after":${JSON.stringify(value)}}` : value
