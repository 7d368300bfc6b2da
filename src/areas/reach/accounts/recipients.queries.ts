// Finds the recipients of mail about accounts and memberships with a fixed number of statements.
import { type Fragment, LEVEL_OF_EACH, lasts, membersOfProject } from '../../../access/membership.js'
import { row, rows } from '../../../db/connect/sql.js'
import { MASTER, OWNER } from '../../../lib/levels.js'
import { PENDING } from '../../people/users/suspension.js'
import { DEFAULT_LEVEL, numberOf } from '../notifications/levels.js'

export interface Person {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
}

/** An active user, whether the primary address is confirmed or not: for mail about the security of the account. */
export const findPerson = (id: number): Promise<(Person & { confirmed: number }) | undefined> =>
  row<Person & { confirmed: number }>(
    "select id, username, name, email, email_confirmed_at is not null as confirmed from users where id = ? and state = 'active'",
    [id]
  )

/** The confirmed further addresses of a user. */
export async function furtherAddresses(userId: number): Promise<string[]> {
  const found = await rows<{ email: string }>(
    'select email from emails where user_id = ? and confirmed_at is not null order by id',
    [userId]
  )
  return found.map(({ email }) => email)
}

// Mail goes to the notification address that the user has chosen, or to the primary one. Either must be confirmed.
const CHOSEN = `left join notification_settings a on a.user_id = u.id and a.source_type = 'Global' and a.source_id = 0
  left join emails e on e.user_id = u.id and e.email_key = lower(a.notification_email) and e.confirmed_at is not null`
const MAILED = `select u.id, u.username, u.name, coalesce(e.email, u.email) as email from users u ${CHOSEN}`
const REACHABLE = "u.state = 'active' and (e.id is not null or u.email_confirmed_at is not null)"

/** An active user with a confirmed address, for all other mail. */
export const findReachable = (id: number): Promise<Person | undefined> =>
  row<Person>(`${MAILED} where u.id = ? and ${REACHABLE}`, [id])

const among = ({ sql, values }: Fragment): Promise<Person[]> =>
  rows<Person>(`${MAILED} where u.id in (${sql}) and ${REACHABLE} order by u.id`, [...values])

const [GLOBAL, DISABLED] = [numberOf('global'), numberOf('disabled')]

/** The members of a project who get mail about it: their notification level is not `disabled`. */
export function mailedMembers(projectId: number): Promise<Person[]> {
  const { sql, values } = membersOfProject(projectId)
  return rows<Person>(
    `${MAILED}
     left join notification_settings p on p.user_id = u.id and p.source_type = 'Project' and p.source_id = ?
     left join notification_settings g on g.user_id = u.id and g.source_type = 'Group'
       and g.source_id = (select q.namespace_id from projects q where q.id = ?)
     where u.id in (${sql}) and ${REACHABLE}
       and coalesce(nullif(p.level, ${GLOBAL}), nullif(g.level, ${GLOBAL}),
         nullif(a.level, ${GLOBAL}), ${numberOf(DEFAULT_LEVEL)}) <> ${DISABLED}
     order by u.id`,
    [projectId, projectId, ...values]
  )
}

/** The users who can approve access to a project or group: its masters, or its owners. Not specified: administrators get no such mail. */
export const approversOf = ({ type, id }: { readonly type: 'project' | 'namespace'; readonly id: number }) =>
  type === 'project' ? mastersOf(id) : among(ownersOfGroup(id))

const ownersOfGroup = (groupId: number): Fragment => ({
  sql: `select m.user_id from members m
    where m.source_type = 'namespace' and m.source_id = ? and m.access_level >= ${OWNER} and ${lasts('m')}`,
  values: [groupId]
})

function mastersOf(projectId: number): Promise<Person[]> {
  const { sql, values } = membersOfProject(projectId)
  return rows<Person>(
    `select distinct id, username, name, email from (
       select u.id, u.username, u.name, coalesce(e.email, u.email) as email, n.owner_id = u.id as is_owner,
         ${LEVEL_OF_EACH.column}
       from projects p join namespaces n on n.id = p.namespace_id join (${sql}) someone
       join users u on u.id = someone.user_id ${CHOSEN} ${LEVEL_OF_EACH.joins}
       where p.id = ? and ${REACHABLE}) member
     where is_owner or access_level >= ${MASTER}`,
    [...values, projectId]
  )
}

/** A user whom an administrator must approve. */
export const findPending = (id: number): Promise<Person | undefined> =>
  row<Person>('select id, username, name, email from users where id = ? and block_reason = ?', [id, PENDING])

/** The active administrators, at most 100 of them. */
export const administrators = (): Promise<Person[]> =>
  rows<Person>(`${MAILED} where u.admin = 1 and ${REACHABLE} order by u.id limit 100`)
