import { row, rows, type Value } from '../../../db/connect/sql.js'
import { countTotal, PART, type Page, window } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'
import type { TokenListQuery, TokenState } from './tokens.schema.js'

/** The record of a personal access token, without the token itself. */
export interface TokenRow {
  readonly id: number
  readonly user_id: number
  readonly username: string
  readonly name: string
  /** Scopes, separated by spaces. */
  readonly scopes: string
  readonly created_at: Date
  readonly last_used_at: Date | null
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
}

const SELECT = `select t.id, t.user_id, u.username, t.name, t.scopes, t.created_at, t.last_used_at, t.expires_at,
    t.revoked_at from access_tokens t join users u on u.id = t.user_id`
const ACTIVE = 't.revoked_at is null and (t.expires_at is null or t.expires_at > ?)'

export interface TokenFilter {
  readonly userId?: number
  readonly state?: TokenState
}

export interface TokenListing {
  readonly total: number
  readonly items: readonly TokenRow[]
}

/** Returns personal access tokens, newest first, with their total number. `part` is `limit N offset M` with whole numbers. */
export async function listTokens(filter: TokenFilter, part: string): Promise<TokenListing> {
  const { where, values } = condition(filter)
  const [total, items] = await Promise.all([
    countTotal(`select count(*) as total from access_tokens t where ${where}`, values),
    rows<TokenRow>(`${SELECT} where ${where} order by t.id desc ${part}`, values)
  ])
  return { total, items }
}

/** Returns the next part of such a list: tokens with a lower id than `before`. */
export function tokensBefore(filter: TokenFilter, before: number): Promise<TokenRow[]> {
  const { where, values } = condition(filter)
  return rows<TokenRow>(`${SELECT} where ${where} and t.id < ? order by t.id desc limit ${PART}`, [...values, before])
}

/** Returns a page of personal access tokens: those of the user `userId`, or of all users without it. */
export async function pageOfTokens(userId: number | undefined, query: TokenListQuery): Promise<Page<TokenRow>> {
  const { page, perPage, sql } = window(query)
  return { ...(await listTokens({ userId, state: query.state }, sql)), page, perPage }
}

/** The name of the record in a NotFound. */
export const TOKEN_RECORD = 'Personal Access Token'

/** Returns a personal access token by its id. Throws NotFound. */
export async function requireToken(id: number): Promise<TokenRow> {
  const found = await row<TokenRow>(`${SELECT} where t.id = ? and t.kind = 'personal'`, [id])
  if (!found) throw new NotFound(TOKEN_RECORD)
  return found
}

function condition({ userId, state }: TokenFilter) {
  const where = ["t.kind = 'personal'"]
  const values: Value[] = []
  if (userId !== undefined) {
    where.push('t.user_id = ?')
    values.push(userId)
  }
  if (state) {
    where.push(state === 'active' ? ACTIVE : `not (${ACTIVE})`)
    values.push(new Date())
  }
  return { where: where.join(' and '), values }
}
