import { row, rows } from '../../../db/connect/sql.js'
import { countTotal, type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import type { MemberSource } from './members.queries.js'

export interface AccessRequestRow {
  /** The id of the request. */
  readonly id: number
  readonly user_id: number
  readonly requested_at: Date
  readonly name: string
  readonly username: string
  readonly state: 'active' | 'blocked' | 'ldap_blocked'
  /** When the user's account was created. */
  readonly created_at: Date
}

const SELECT = `select r.id, r.user_id, r.created_at as requested_at, u.name, u.username, u.state, u.created_at
  from access_requests r join users u on u.id = r.user_id`
const OF = 'where r.source_type = ? and r.source_id = ?'

/** Returns a page of the users who request access, oldest request first. */
export async function listAccessRequests(source: MemberSource, query: PageRequest): Promise<Page<AccessRequestRow>> {
  const { page, perPage, sql } = window(query)
  const values = [source.type, source.id]
  const [items, total] = await Promise.all([
    rows<AccessRequestRow>(`${SELECT} ${OF} order by r.id ${sql}`, values),
    countTotal(`select count(*) as total from access_requests r ${OF}`, values)
  ])
  return { items, total, page, perPage }
}

/** Returns the request of a user and locks it; undefined without a request. */
export const lockAccessRequest = (source: MemberSource, userId: number): Promise<AccessRequestRow | undefined> =>
  row<AccessRequestRow>(`${SELECT} ${OF} and r.user_id = ? for update`, [source.type, source.id, userId])
