import { marks, padded, row, rows } from '../../../db/connect/sql.js'
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
  readonly user_state: 'active' | 'blocked' | 'ldap_blocked'
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

/** An emoji that users gave to something. */
export interface AwardCount {
  readonly type: AwardableType
  readonly id: number
  readonly name: string
  readonly count: number
  /** Whether the caller is one of them. */
  readonly mine: number
  /** The names of the first of them. */
  readonly givers: string
}

/** The maximum number of different emoji that a page shows for something. */
const MOST_EMOJI = 20

/** Counts the emoji of something and of the notes about it, in the order in which they were first given. */
export async function countAwards(
  { type, id }: Pick<Awardable, 'type' | 'id'>,
  noteIds: readonly number[],
  userId = 0
): Promise<(of: 'Note' | 'target', id: number) => AwardCount[]> {
  const notes = padded(noteIds.length === 0 ? [0] : noteIds)
  // The index has the order of the groups. For another one, the database would make a table, which takes as long as all the rest.
  const found = await rows<AwardCount & { readonly first: number }>(
    `select w.awardable_type as type, w.awardable_id as id, w.name, count(*) as count, max(w.user_id = ?) as mine,
       substring_index(group_concat(u.name order by w.id separator ', '), ', ', 10) as givers, min(w.id) as first
     from ${FROM} where ${OF} or (w.awardable_type = 'Note' and w.awardable_id in (${marks(notes)}))
     group by w.awardable_type, w.awardable_id, w.name order by null`,
    [userId, type, id, ...notes]
  )
  found.sort((a, b) => a.first - b.first)
  return (of, awarded) =>
    found.filter(award => (award.type === 'Note') === (of === 'Note') && award.id === awarded).slice(0, MOST_EMOJI)
}
