import { rows } from '../../../db/connect/sql.js'
import type { Target } from './targets.js'

interface ParticipantRow {
  readonly name: string
  readonly username: string
}

/** The maximum number of participants that a page shows. */
const MOST = 20

/**
 * Returns the first users who took part in an issue or a merge request: its author, and who wrote about it, was assigned, or was
 * mentioned.
 */
export const listParticipants = (
  { type, id }: Pick<Target, 'type' | 'id'>,
  authorId: number | null
): Promise<ParticipantRow[]> =>
  rows<ParticipantRow>(
    `select u.name, u.username from users u where u.id = ?
     union (select u.name, u.username from participants o straight_join users u on u.id = o.user_id
     where o.target_type = ? and o.target_id = ? order by o.user_id limit ${MOST})`,
    [authorId, type, id]
  )
