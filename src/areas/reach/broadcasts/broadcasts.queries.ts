import { askTogether } from '../../../db/connect/batching.js'
import { row, rows } from '../../../db/connect/sql.js'
import { countTotal, PART, type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'
import { STORED_SETTINGS } from '../../ground/settings/settings.queries.js'

export interface BroadcastRow {
  readonly id: number
  readonly message: string
  readonly starts_at: Date
  readonly ends_at: Date
  readonly color: string
  readonly font: string
}

const COLUMNS = 'id, message, starts_at, ends_at, color, font'
const ACTIVE = 'starts_at <= ? and ends_at >= ?'
/** More messages would fill the page. */
const SHOWN = 20

/** A page of messages, in the order of their ids. Not specified: the order. */
export async function listBroadcasts({
  active = false,
  ...query
}: PageRequest & { active?: boolean }): Promise<Page<BroadcastRow>> {
  const where = active ? ACTIVE : '1 = 1'
  const values = active ? [new Date(), new Date()] : []
  const { page, perPage, sql } = window(query)
  const [total, items] = await Promise.all([
    countTotal(`select count(*) as total from broadcast_messages where ${where}`, values),
    rows<BroadcastRow>(`select ${COLUMNS} from broadcast_messages where ${where} order by id ${sql}`, values)
  ])
  return { items, total, page, perPage }
}

/** The next part of that list: messages with a higher id than `after`. */
export function broadcastsAfter(active: boolean, after: number): Promise<BroadcastRow[]> {
  const now = new Date()
  return rows<BroadcastRow>(
    `select ${COLUMNS} from broadcast_messages where ${active ? `${ACTIVE} and ` : ''}id > ? order by id limit ${PART}`,
    active ? [now, now, after] : [after]
  )
}

/** What every page shows: the messages of now, newest first, and the stored settings. */
export interface PageFrame {
  readonly broadcasts: readonly BroadcastRow[]
  /** As JSON; null when there are none. */
  readonly settings: string | null
}

/** Reads what every page shows with one statement. Pages at the same time read it together. They must not be in a transaction. */
export const pageFrame = (): Promise<PageFrame> => frameTogether(null)
const frameTogether = askTogether<null, PageFrame>(async () => {
  const now = new Date()
  const found = await rows<(BroadcastRow | { readonly id: null }) & { readonly settings: string | null }>(
    `select ${STORED_SETTINGS} as settings, ${COLUMNS} from (select 1) page left join broadcast_messages on ${ACTIVE}
     order by id desc limit ${SHOWN}`,
    [now, now]
  )
  return { broadcasts: found.flatMap(row => (row.id === null ? [] : [row])), settings: found[0]?.settings ?? null }
})

/** The messages to show now, newest first. */
export const activeBroadcasts = async (): Promise<readonly BroadcastRow[]> => (await pageFrame()).broadcasts

/** One message. Throws NotFound. */
export async function requireBroadcast(id: number): Promise<BroadcastRow> {
  const found = await row<BroadcastRow>(`select ${COLUMNS} from broadcast_messages where id = ?`, [id])
  if (!found) throw new NotFound()
  return found
}
