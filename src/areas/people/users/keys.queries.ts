import { row, rows } from '../../../db/connect/sql.js'
import { countTotal, PART } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'

export interface KeyRow {
  readonly id: number
  readonly user_id: number
  readonly title: string
  readonly public_key: string
  readonly fingerprint: string
  readonly created_at: Date
  readonly last_used_at: Date | null
}

export interface OwnedKeyRow extends KeyRow {
  readonly username: string
}

const COLUMNS = 'k.id, k.user_id, k.title, k.public_key, k.fingerprint, k.created_at, k.last_used_at'

/** Returns the keys of a user, oldest first. */
export function listKeys(userId: number): Promise<KeyRow[]> {
  return rows<KeyRow>(`select ${COLUMNS} from ssh_keys k where k.user_id = ? order by k.id`, [userId])
}

export async function countKeys(userId: number): Promise<number> {
  const found = await row<{ count: number }>('select count(*) as count from ssh_keys where user_id = ?', [userId])
  return Number(found?.count ?? 0)
}

/** Returns whether the key with this fingerprint is a deploy key. */
export const isDeployKey = async (fingerprint: string): Promise<boolean> =>
  (await row('select 1 as found from deploy_keys where fingerprint = ? limit 1', [fingerprint])) !== undefined

/** Returns a key of this user by its id; undefined for a key of another user. */
export function findKey(userId: number, id: number): Promise<KeyRow | undefined> {
  return row<KeyRow>(`select ${COLUMNS} from ssh_keys k where k.user_id = ? and k.id = ?`, [userId, id])
}

/** Returns a key of this user by its id. Throws NotFound, also for a key of another user. */
export async function requireKey(userId: number, id: number): Promise<KeyRow> {
  const found = await findKey(userId, id)
  if (!found) throw new NotFound('Key')
  return found
}

/** Returns a key of any user by its id; undefined when it does not exist. */
export function findAnyKey(id: number): Promise<OwnedKeyRow | undefined> {
  return row<OwnedKeyRow>(
    `select ${COLUMNS}, u.username from ssh_keys k join users u on u.id = k.user_id where k.id = ?`,
    [id]
  )
}

/** Returns a key of any user by its id. Throws NotFound. */
export async function requireAnyKey(id: number): Promise<OwnedKeyRow> {
  const found = await findAnyKey(id)
  if (!found) throw new NotFound('Key')
  return found
}

/** Returns keys of all users or of one user, newest first, with their total number. `limit` is a whole number. */
export async function listAllKeys({ userId, limit }: { userId?: number; limit: number }) {
  const [where, values] = userId === undefined ? ['1 = 1', []] : ['k.user_id = ?', [userId]]
  const [total, items] = await Promise.all([
    countTotal(`select count(*) as total from ssh_keys k where ${where}`, values),
    rows<OwnedKeyRow>(
      `select ${COLUMNS}, u.username from ssh_keys k join users u on u.id = k.user_id where ${where}
       order by k.id desc limit ${limit}`,
      values
    )
  ])
  return { total, items }
}

/** Returns the next part of such a list: keys with a lower id than `before`. */
export function keysBefore(userId: number | undefined, before: number): Promise<OwnedKeyRow[]> {
  const [where, values] = userId === undefined ? ['', []] : ['k.user_id = ? and', [userId]]
  return rows<OwnedKeyRow>(
    `select ${COLUMNS}, u.username from ssh_keys k join users u on u.id = k.user_id where ${where} k.id < ?
     order by k.id desc limit ${PART}`,
    [...values, before]
  )
}
