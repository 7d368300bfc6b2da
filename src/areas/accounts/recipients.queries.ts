// To whom the mail about accounts and memberships goes, by a fixed number of statements.
import { type Fragment, lasts } from '../../access/membership.js'
import { row, rows, type Value } from '../../db/sql.js'
import { GUEST, MASTER, OWNER } from '../../lib/levels.js'
import { DEFAULT_LEVEL, numberOf } from '../notifications/levels.js'

export interface Person {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
}

/** An active user, whether the primary address is confirmed or not: for mail about the safety of the account. */
export const findPerson = (id: number): Promise<(Person & { confirmed: number }) | undefined> =>
  row<Person & { confirmed: number }>(
    "select id, username, name, email, email_confirmed_at is not null as confirmed from users where id = ? and state = 'active'",
    [id]
  )

/** The further addresses of a user that are confirmed. */
export async function furtherAddresses(userId: number): Promise<string[]> {
  const found = await rows<{ email: string }>(
    'select email from emails where user_id = ? and confirmed_at is not null order by id',
    [userId]
  )
  return found.map(({ email }) => email)
}

// Mail goes to the address that the user has chosen for it, or to the primary one: confirmed, either.
const MAILED = `select u.id, u.username, u.name, coalesce(e.email, u.email) as email from users u
  left join notification_settings a on a.user_id = u.id and a.source_type = 'Global' and a.source_id = 0
  left join emails e on e.user_id = u.id and e.email_key = lower(a.notification_email) and e.confirmed_at is not null`
const REACHABLE = "u.state = 'active' and (e.id is not null or u.email_confirmed_at is not null)"

/** An active user with an address that is confirmed, for all other mail. */
export const findReachable = (id: number): Promise<Person | undefined> =>
  row<Person>(`${MAILED} where u.id = ? and ${REACHABLE}`, [id])

const among = ({ sql, values }: Fragment): Promise<Person[]> =>
  rows<Person>(`${MAILED} where u.id in (${sql}) and ${REACHABLE} order by u.id`, [...values])

/** Who has at least this level in a project, by whatever way. */
function withLevel(projectId: number, level: number): Fragment {
  const values: Value[] = [projectId, level, projectId, level, projectId, level, projectId]
  return {
    sql: `select m.user_id from members m
        where m.source_type = 'project' and m.source_id = ? and m.access_level >= ? and ${lasts('m')}
      union select g.user_id from projects p join members g on g.source_type = 'namespace' and g.source_id = p.namespace_id
        where p.id = ? and g.access_level >= ? and ${lasts('g')}
      union select s.user_id from project_group_links l join members s on s.source_type = 'namespace' and s.source_id = l.group_id
        where l.project_id = ? and least(l.group_access, s.access_level) >= ? and ${lasts('l')} and ${lasts('s')}
      union select n.owner_id from projects q join namespaces n on n.id = q.namespace_id and n.kind = 'user' where q.id = ?`,
    values
  }
}

const [GLOBAL, DISABLED] = [numberOf('global'), numberOf('disabled')]

/** The members of a project who want mail of it, whatever of: their level of notifications is not `disabled`. */
export function mailedMembers(projectId: number): Promise<Person[]> {
  const { sql, values } = withLevel(projectId, GUEST)
  return rows<Person>(
    `${MAILED}
     left join notification_settings p on p.user_id = u.id and p.source_type = 'Project' and p.source_id = ?
     left join notification_settings g on g.user_id = u.id and g.source_type = 'Group'
       and g.source_id = (select q.namespace_id from projects q where q.id = ?)
     where u.id in (${sql}) and ${REACHABLE}
       and coalesce(nullif(p.level, ${GLOBAL}), nullif(g.level, ${GLOBAL}), a.level, ${numberOf(DEFAULT_LEVEL)}) <> ${DISABLED}
     order by u.id`,
    [projectId, projectId, ...values]
  )
}

/** Who may let people into a project or group: its masters, or its owners. Not specified: administrators get no mail of it. */
export const approversOf = ({ type, id }: { readonly type: 'project' | 'namespace'; readonly id: number }) =>
  type === 'project'
    ? among(withLevel(id, MASTER))
    : among({
        sql: `select m.user_id from members m
          where m.source_type = 'namespace' and m.source_id = ? and m.access_level >= ${OWNER} and ${lasts('m')}`,
        values: [id]
      })
