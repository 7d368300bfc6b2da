import { row, rows } from '../../../db/connect/sql.js'
import { countTotal, type Page, window } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'

/** An application that requests access on behalf of users, without its secret. */
export interface ApplicationRow {
  readonly id: number
  /** The id that the application shows. */
  readonly uid: string
  readonly name: string
  /** URIs, separated by line feeds. */
  readonly redirect_uris: string
  /** Scopes, separated by spaces. */
  readonly scopes: string
  readonly confidential: number
  /** The user who registered it; null for an application of the instance. */
  readonly user_id: number | null
  readonly username: string | null
  readonly created_at: Date
}

export interface ApplicationFilter {
  readonly userId?: number
}

export const APPLICATION_RECORD = 'Application'

const COLUMNS = 'a.id, a.uid, a.name, a.redirect_uris, a.scopes, a.confidential, a.user_id, u.username, a.created_at'
const FROM = 'from oauth_applications a left join users u on u.id = a.user_id'
const SELECT = `select ${COLUMNS} ${FROM}`

/** Returns applications, newest first, with their total number. `part` is `limit N offset M` with whole numbers. */
export async function listApplications({ userId }: ApplicationFilter, part: string) {
  const [where, values] = userId === undefined ? ['1 = 1', []] : ['a.user_id = ?', [userId]]
  const [total, items] = await Promise.all([
    countTotal(`select count(*) as total from oauth_applications a where ${where}`, values),
    rows<ApplicationRow>(`${SELECT} where ${where} order by a.id desc ${part}`, values)
  ])
  return { total, items }
}

export async function pageOfApplications(query: { page?: number; per_page?: number }): Promise<Page<ApplicationRow>> {
  const { page, perPage, sql } = window(query)
  return { ...(await listApplications({}, sql)), page, perPage }
}

/** An application by its number. Throws NotFound. */
export async function requireApplication(id: number): Promise<ApplicationRow> {
  const found = await row<ApplicationRow>(`${SELECT} where a.id = ?`, [id])
  if (!found) throw new NotFound(APPLICATION_RECORD)
  return found
}

/** An application by the id that it shows, with the hash of its secret. */
export function findApplication(uid: string): Promise<(ApplicationRow & { secret_hash: Buffer }) | undefined> {
  return row(`select a.secret_hash, ${COLUMNS} ${FROM} where a.uid = ?`, [uid])
}

export const redirectUrisOf = ({ redirect_uris }: Pick<ApplicationRow, 'redirect_uris'>): string[] =>
  redirect_uris.split('\n')
