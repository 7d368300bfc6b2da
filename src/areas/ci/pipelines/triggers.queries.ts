import { row, rows } from '../../../db/connect/sql.js'
import { countTotal, type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'
import { tokenHash } from '../../../secrets.js'

export interface TriggerRow {
  readonly id: number
  readonly project_id: number
  readonly token_encrypted: Buffer
  readonly created_at: Date
  readonly updated_at: Date
  readonly last_used_at: Date | null
}

const SELECT = `select t.id, t.project_id, t.token_encrypted, t.created_at, t.updated_at, t.last_used_at from triggers t`

/** Returns a page of the triggers of a project, oldest first. */
export async function listTriggers(projectId: number, query: PageRequest): Promise<Page<TriggerRow>> {
  const { page, perPage, sql } = window(query)
  const [total, items] = await Promise.all([
    countTotal('select count(*) as total from triggers where project_id = ?', [projectId]),
    rows<TriggerRow>(`${SELECT} where t.project_id = ? order by t.id ${sql}`, [projectId])
  ])
  return { items, total, page, perPage }
}

/** Returns a trigger of any project by its token. */
export const findTrigger = (token: string): Promise<TriggerRow | undefined> =>
  row<TriggerRow>(`${SELECT} where t.token_hash = ?`, [tokenHash(token)])

/** Returns a trigger of a project by its token. Throws NotFound. */
export async function requireTrigger(projectId: number, token: string): Promise<TriggerRow> {
  const found = await findTrigger(token)
  if (found?.project_id !== projectId) throw new NotFound('Trigger')
  return found
}
