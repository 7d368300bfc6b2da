import { row, rows } from '../../../db/connect/sql.js'
import { NotFound } from '../../../errors.js'

export interface EmailRow {
  readonly id: number
  readonly user_id: number
  readonly email: string
}

const COLUMNS = 'id, user_id, email'

/** Returns the addresses of a user without the primary one, oldest first. */
export function listEmails(userId: number): Promise<EmailRow[]> {
  return rows<EmailRow>(`select ${COLUMNS} from emails where user_id = ? order by id`, [userId])
}

/** An address with whether it is the primary one, which has the id 0. */
export interface AddressRow {
  readonly id: number
  readonly email: string
  /** Null until the user has confirmed it. */
  readonly confirmed_at: Date | null
  readonly is_primary: number
}

/** Returns all addresses of a user, the primary one first. */
export const listAddresses = (userId: number): Promise<AddressRow[]> =>
  rows<AddressRow>(
    `select 0 as id, email, email_confirmed_at as confirmed_at, 1 as is_primary from users where id = ?
     union all select id, email, confirmed_at, 0 from emails where user_id = ? order by is_primary desc, id`,
    [userId, userId]
  )

export async function countEmails(userId: number): Promise<number> {
  const found = await row<{ count: number }>('select count(*) as count from emails where user_id = ?', [userId])
  return Number(found?.count ?? 0)
}

/** Returns an address of this user by its id. Throws NotFound, also for an address of another user. */
export async function requireEmail(userId: number, id: number): Promise<EmailRow> {
  const found = await row<EmailRow>(`select ${COLUMNS} from emails where user_id = ? and id = ?`, [userId, id])
  if (!found) throw new NotFound('Email')
  return found
}

/** An address with the name of its user. */
export interface OwnedEmailRow extends EmailRow {
  readonly username: string
}

/** Returns an address of any user by its id. Throws NotFound. */
export async function requireAnyEmail(id: number): Promise<OwnedEmailRow> {
  const found = await row<OwnedEmailRow>(
    `select e.id, e.user_id, e.email, u.username from emails e join users u on u.id = e.user_id where e.id = ?`,
    [id]
  )
  if (!found) throw new NotFound('Email')
  return found
}
