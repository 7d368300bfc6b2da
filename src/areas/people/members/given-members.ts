// Memberships of groups that an identity provider gives, such as a directory. The provider decides their level, and ends them.
// Memberships that people gave stay as they are, also when the provider names the same group.
import type { Origin } from '../../../access/actor.js'
import { execute, lowerMarks, marks, rows } from '../../../db/connect/sql.js'
import { OWNER } from '../../../lib/levels.js'
import { becomeMember, endMembership, holdSource, lockLasting, updateMember } from './members.js'
import { hasOtherOwner } from './members.queries.js'
import { sourceOfGroup } from './sources.js'

/** The path of a group -> the level of the user there. */
export type GivenLevels = ReadonlyMap<string, number>

/** A step towards the memberships that a provider gives. */
export interface MemberStep {
  readonly group: { readonly id: number; readonly name: string; readonly path: string }
  /** Null ends the membership. */
  readonly level: number | null
}

interface GroupRow {
  readonly id: number
  readonly name: string
  readonly path: string
  /** Null when the user is not a member. */
  readonly access_level: number | null
  readonly provider: string | null
  readonly ended: number | null
}

const COLUMNS = `n.id, n.name, n.path, m.access_level, m.provider, m.expires_at <= utc_date() as ended`

/** Returns what differs from the memberships that a provider gives, with one statement. Groups that do not exist are left out. */
export async function stepsTo(userId: number, provider: string, levels: GivenLevels): Promise<MemberStep[]> {
  const wanted = new Map([...levels].map(([path, level]) => [path.toLowerCase(), level]))
  const paths = [...wanted.keys()]
  const named =
    paths.length === 0
      ? ''
      : ` union select ${COLUMNS} from namespaces n left join members m on m.source_type = 'namespace' and m.source_id = n.id
           and m.user_id = ? where n.kind = 'group' and n.path_key in (${lowerMarks(paths)})`
  const found = await rows<GroupRow>(
    `select ${COLUMNS} from members m join namespaces n on n.id = m.source_id
     where m.user_id = ? and m.source_type = 'namespace' and m.provider = ?${named}`,
    [userId, provider, ...(paths.length === 0 ? [] : [userId, ...paths])]
  )
  return found.flatMap(({ id, name, path, access_level: current, provider: giver, ended }) => {
    const level = wanted.get(path.toLowerCase()) ?? null
    const isMember = current !== null && ended !== 1
    if (isMember && giver !== provider) return []
    return level === (isMember ? current : null) ? [] : [{ group: { id, name, path }, level }]
  })
}

/** Makes the steps, except that a group keeps its last owner. Call it inside `transact`. */
export async function takeSteps(
  userId: number,
  provider: string,
  steps: readonly MemberStep[],
  origin: Origin
): Promise<void> {
  for (const { group, level } of steps) {
    const source = sourceOfGroup(group)
    await holdSource(source)
    const member = await lockLasting(source, userId, origin)
    if (!member && level !== null) {
      await becomeMember(source, { userId, level, expiresAt: null }, origin)
      const sql = "update members set provider = ? where source_type = 'namespace' and source_id = ? and user_id = ?"
      await execute(sql, [provider, group.id, userId])
    }
    if (!member || (level !== OWNER && member.access_level === OWNER && !(await hasOtherOwner(group.id, userId))))
      continue
    if (level === null) await endMembership(source, member, origin, { expired: false })
    else await updateMember(source, userId, { access_level: level }, origin)
  }
}

/** Returns the memberships that a provider has given to users: the id of the user -> the path of the group -> the level. */
export async function givenLevels(
  provider: string,
  userIds: readonly number[]
): Promise<ReadonlyMap<number, ReadonlyMap<string, number>>> {
  const given = new Map<number, Map<string, number>>()
  if (userIds.length === 0) return given
  const found = await rows<{ user_id: number; path: string; access_level: number }>(
    `select m.user_id, n.path, m.access_level from members m join namespaces n on n.id = m.source_id
     where m.source_type = 'namespace' and m.provider = ? and m.user_id in (${marks(userIds)})`,
    [provider, ...userIds]
  )
  for (const { user_id: userId, path, access_level: level } of found) {
    given.set(userId, (given.get(userId) ?? new Map<string, number>()).set(path.toLowerCase(), level))
  }
  return given
}
