import { LEVEL_OF_EACH, lasts } from '../../../../access/membership.js'
import { row, rows } from '../../../../db/connect/sql.js'
import { MASTER, OWNER } from '../../../../lib/levels.js'
import type { MemberSource } from '../../../people/members/members.queries.js'

export const INVITATION_DAYS = 14

export interface InvitationRow {
  readonly id: number
  readonly source_type: MemberSource['type']
  readonly source_id: number
  readonly address: string
  /** The person who invites; null for a command. */
  readonly user_id: number | null
  /** The name of this person; null for a command. */
  readonly by_name: string | null
  readonly access_level: number
  readonly expires_at: string | null
  readonly created_at: Date
}

export const oldestInvitation = (): Date => new Date(Date.now() - INVITATION_DAYS * 86_400_000)

const SELECT = `select i.id, i.source_type, i.source_id, i.address, i.user_id, u.name as by_name, i.access_level,
  date_format(i.expires_at, '%Y-%m-%d') as expires_at,
  i.created_at from invitations i left join users u on u.id = i.user_id`

/** An invitation that can still be accepted. */
export const findInvitation = (id: number): Promise<InvitationRow | undefined> =>
  row<InvitationRow>(`${SELECT} where i.id = ? and i.created_at >= ?`, [id, oldestInvitation()])

/** The pending invitations of a project or group, newest first. There are at most 100. */
export const listInvitations = ({ type, id }: MemberSource): Promise<InvitationRow[]> =>
  rows<InvitationRow>(
    `${SELECT} where i.source_type = ? and i.source_id = ? and i.created_at >= ? order by i.id desc limit 100`,
    [type, id, oldestInvitation()]
  )

/** Returns whether the person who invited may still add members: nobody becomes a member in the name of somebody who lost the right. */
export async function mayStillInvite({
  source_type: type,
  source_id: id,
  user_id: userId
}: InvitationRow): Promise<boolean> {
  if (userId === null) return true
  const found =
    type === 'project'
      ? await row<{ allowed: number }>(
          `select u.admin = 1 or n.owner_id <=> u.id or coalesce(${LEVEL_OF_EACH.column.replace(' as access_level', '')}, 0) >= ${MASTER} as allowed
           from projects p join namespaces n on n.id = p.namespace_id join users u on u.id = ? ${LEVEL_OF_EACH.joins}
           where p.id = ? and u.state = 'active'`,
          [userId, id]
        )
      : await row<{ allowed: number }>(
          `select u.admin = 1 or coalesce(m.access_level, 0) >= ${OWNER} as allowed from users u
           left join members m on m.source_type = 'namespace' and m.source_id = ? and m.user_id = u.id and ${lasts('m')}
           where u.id = ? and u.state = 'active'`,
          [id, userId]
        )
  return found?.allowed === 1
}

/** Returns whether an address is confirmed for a user, as the primary one or another. */
export async function hasAddress(userId: number, address: string): Promise<boolean> {
  const found = await row(
    `select 1 as found from users where id = ? and email_key = lower(?) and email_confirmed_at is not null
     union all select 1 from emails where user_id = ? and email_key = lower(?) and confirmed_at is not null limit 1`,
    [userId, address, userId, address]
  )
  return found !== undefined
}
