import { row, rows } from '../../../db/connect/sql.js'
import { countTotal, type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'
import type { NoteableType } from './noteables.js'

type AwardableType = NoteableType | 'Note'

/** Something that the caller may read and give an emoji to. */
export interface Awardable {
  readonly type: AwardableType
  readonly id: number
  readonly authorId: number
}

export interface AwardRow {
  readonly id: number
  readonly name: string
  readonly awardable_type: AwardableType
  readonly awardable_id: number
  readonly created_at: Date
  readonly updated_at: Date
  readonly user_id: number
  readonly user_name: string
  readonly user_username: string
  readonly user_state: 'active' | 'blocked'
}

const FROM = 'award_emoji w straight_join users u on u.id = w.user_id'
const SELECT = `select w.id, w.name, w.awardable_type, w.awardable_id, w.created_at, w.updated_at, w.user_id,
  u.name as user_name, u.username as user_username, u.state as user_state from ${FROM}`
const OF = 'w.awardable_type = ? and w.awardable_id = ?'

/** Returns a page of the awards of something, oldest first. */
export async function listAwards({ type, id }: Awardable, query: PageRequest): Promise<Page<AwardRow>> {
  const { page, perPage, sql } = window(query)
  const [total, items] = await Promise.all([
    countTotal(`select count(*) as total from ${FROM} where ${OF}`, [type, id]),
    rows<AwardRow>(`${SELECT} where ${OF} order by w.id ${sql}`, [type, id])
  ])
  return { items, total, page, perPage }
}

/** Returns an award of something. Throws NotFound. */
export async function requireAward({ type, id }: Awardable, awardId: number): Promise<AwardRow> {
  const found = await row<AwardRow>(`${SELECT} where w.id = ? and ${OF}`, [awardId, type, id])
  if (!found) throw new NotFound('Award Emoji')
  return found
}

/** Finds the award with this name that a user gave to something. */
export const findAward = ({ type, id }: Awardable, name: string, userId: number): Promise<AwardRow | undefined> =>
  row<AwardRow>(`${SELECT} where ${OF} and w.name = ? and w.user_id = ?`, [type, id, name, userId])
