import { row, rows } from '../../../db/connect/sql.js'
import { goesWith, ownersOf } from '../../../db/ownership/owned-tables.js'
import { type Fate, type Link, TABLES, type TableName } from '../../../db/ownership/ownership.js'

/** Number of rows of each table, by the table's name in the public record. */
export type Counts = { readonly [name: string]: number }

/** Tables that have another name in the public record, or of which it counts only some rows, or no rows (`false`). */
const COUNTED: { readonly [Table in TableName]?: { readonly as: string; readonly only?: string } | false } = {
  ssh_keys: { as: 'keys' },
  // Every user also has a private token.
  access_tokens: { as: 'tokens', only: "x.kind = 'personal'" },
  members: { as: 'memberships' },
  ref_changes: { as: 'pushes' },
  activity_events: { as: 'activities' },
  project_stars: { as: 'stars' },
  award_emoji: { as: 'awards' },
  mail_deliveries: { as: 'mails' },
  user_trigrams: false,
  user_uses: false,
  sign_in_addresses: false,
  participants: false,
  scim_users: false,
  scim_group_members: false,
  // Every user has one; its projects are listed.
  namespaces: false
}

const OWN =
  "select p.id from projects p join namespaces n on n.id = p.namespace_id where n.kind = 'user' and n.owner_id = u.id"

/** Counts the rows that are removed with a user, outside of the user's own projects. */
export const countBelongings = (userId: number): Promise<Counts> => countRows(userId, ['deleted', 'erased'])

/** Counts the contributions of a user that can stay, outside of the user's own projects. */
export const countContributions = (userId: number): Promise<Counts> =>
  countAll(
    userId,
    TABLES.flatMap(table =>
      ownersOf(table).flatMap(link =>
        link.contribution === undefined ? [] : [{ name: table, sql: countOf(table, [link], link.contribution) }]
      )
    )
  )

/** Counts the rows that stay and refer to a user, outside of the user's own projects. */
export const countTraces = (userId: number): Promise<Counts> => countRows(userId, ['nulled', 'forgotten', 'kept'])

function countRows(userId: number, fates: readonly Fate[]): Promise<Counts> {
  const counted = TABLES.flatMap(table => {
    const links = ownersOf(table).filter(({ to, fate }) => to === 'users' && fates.includes(fate))
    const { as: name, only } = COUNTED[table] || { as: table, only: undefined }
    return links.length > 0 && COUNTED[table] !== false ? [{ name, sql: countOf(table, links, only) }] : []
  })
  return countAll(userId, counted)
}

async function countAll(userId: number, counted: readonly { name: string; sql: string }[]): Promise<Counts> {
  const columns = counted.map(({ name, sql }) => `(${sql}) as \`${name}\``)
  const found = await row<Counts>(`select ${columns.join(', ')} from users u where u.id = ?`, [userId])
  return found ?? Object.fromEntries(counted.map(({ name }) => [name, 0]))
}

function countOf(table: TableName, links: readonly Link[], only: string | undefined): string {
  const conditions = [`(${links.map(is('= u.id')).join(' or ')})`, ...(only ? [only] : []), ...outsideOfOwn(table)]
  return `select count(*) from ${table} x where ${conditions.join(' and ')}`
}

/** Excludes the rows of the user's own projects: they are removed with the projects and not counted separately. */
function outsideOfOwn(table: TableName): string[] {
  if (table === 'projects') return [`x.id not in (${OWN})`]
  const links = ownersOf(table).filter(each => each.to === 'projects' && goesWith(each))
  return links.map(each => `(${is(`in (${OWN})`)(each)}) is not true`)
}

const is =
  (value: string) =>
  ({ column, when }: Link): string =>
    when ? `(x.${when[0]} = '${when[1]}' and x.${column} ${value})` : `x.${column} ${value}`

/** Paths of the groups whose only owner is this user. */
export async function findGroupsOwnedAlone(userId: number): Promise<string[]> {
  const found = await rows<{ path: string }>(
    `select n.path from members m join namespaces n on n.id = m.source_id and n.kind = 'group'
     where m.source_type = 'namespace' and m.user_id = ? and m.access_level = 50
       and not exists (select 1 from members o where o.source_type = 'namespace' and o.source_id = m.source_id
         and o.access_level = 50 and o.user_id <> m.user_id)
     order by n.path`,
    [userId]
  )
  return found.map(({ path }) => path)
}
