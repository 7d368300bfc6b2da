// To whom the mail about accounts and memberships goes, by a fixed number of statements.
import { type Fragment, lasts } from '../../access/membership.js'
import { row, rows, type Value } from '../../db/sql.js'
import { MASTER, OWNER } from '../../lib/levels.js'

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

const REACHABLE = "u.state = 'active' and u.email_confirmed_at is not null"

/** An active user whose primary address is confirmed, for all other mail. */
export const findReachable = (id: number): Promise<Person | undefined> =>
  row<Person>(`select u.id, u.username, u.name, u.email from users u where u.id = ? and ${REACHABLE}`, [id])

const among = ({ sql, values }: Fragment): Promise<Person[]> =>
  rows<Person>(
    `select u.id, u.username, u.name, u.email from users u where u.id in (${sql}) and ${REACHABLE} order by u.id`,
    [...values]
  )

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

/** Everybody who is a member of a project. */
export const membersOfProject = (projectId: number): Promise<Person[]> => among(withLevel(projectId, 0))

/** Who may let people into a project or group: its masters, or its owners. Not specified: administrators get no mail of it. */
export const approversOf = ({ type, id }: { readonly type: 'project' | 'namespace'; readonly id: number }) =>
  type === 'project'
    ? among(withLevel(id, MASTER))
    : among({
        sql: `select m.user_id from members m
          where m.source_type = 'namespace' and m.source_id = ? and m.access_level >= ${OWNER} and ${lasts('m')}`,
        values: [id]
      })
