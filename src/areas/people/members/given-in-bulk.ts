// Gives and ends memberships of many users in groups at once, for a directory whose groups have thousands of members.
import type { Origin } from '../../../access/actor.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { execute, marks, rows } from '../../../db/connect/sql.js'
import { batches } from '../../../lib/batches.js'
import { OWNER } from '../../../lib/levels.js'
import { doerOf } from '../../ground/activity/authors.js'
import { publishAll } from '../../ground/activity/events.js'
import { type AuditEntry, auditAll, changesBetween } from '../../ground/audit/audit.js'
import { memberEntry, type Source, snapshotOf, termsOf } from './members.js'
import type { MemberRow } from './members.queries.js'
import { sourceOfGroup } from './sources.js'

/** A statement takes at most 65,535 values. */
const AT_ONCE = 5000

/** The id of a group -> the id of a user -> the level there. */
export type WantedLevels = ReadonlyMap<number, ReadonlyMap<number, number>>

interface Current extends MemberRow {
  readonly group_id: number
  readonly group_name: string
  readonly group_path: string
  readonly provider: string | null
  readonly ended: number | null
}

interface Step {
  readonly verb: 'add' | 'update' | 'remove' | 'expire'
  readonly source: Source
  readonly member: MemberRow
  readonly level: number
}

/** Locks groups, always in the same order, so that no two transactions wait for each other. */
export async function lockGroups(ids: Iterable<number>): Promise<void> {
  for (const id of [...ids].sort((a, b) => a - b)) await lockRow('namespaces', id)
}

/**
 * Gives these users the memberships that a provider wants, and ends those that it gave before and no longer wants. Memberships that
 * people gave stay, and so do those that people have made the membership of an owner. The number of statements does not depend on the
 * number of users, up to 5000. Returns the number of changes. Call it inside `transact`, with the groups locked by `lockGroups` before
 * it is known what is wanted: otherwise two changes at once could each miss what the other writes.
 */
export async function giveInBulk(
  provider: string,
  userIds: readonly number[],
  wanted: WantedLevels,
  origin: Origin
): Promise<number> {
  let count = 0
  for (const part of batches(userIds, AT_ONCE)) {
    const steps = await stepsFor(provider, part, wanted)
    await take(provider, steps, origin)
    count += steps.length
  }
  return count
}

const COLUMNS = `m.id, m.user_id, m.access_level, date_format(m.expires_at, '%Y-%m-%d') as expires_at, m.created_at,
  m.updated_at, u.name, u.username, u.state, u.email`

async function stepsFor(provider: string, userIds: readonly number[], wanted: WantedLevels): Promise<Step[]> {
  const groupIds = [...wanted.keys()]
  const current = await rows<Current>(
    `select ${COLUMNS}, n.id as group_id, n.name as group_name, n.path as group_path, m.provider,
       m.expires_at <= utc_date() as ended
     from members m join users u on u.id = m.user_id join namespaces n on n.id = m.source_id
     where m.source_type = 'namespace' and m.user_id in (${marks(userIds)})
       and (m.provider = ? or m.source_id in (${marks(groupIds)}))`,
    [...userIds, provider, ...groupIds]
  )
  const kept = new Set<string>()
  const ending = current.flatMap((member): Step[] => {
    const level = wanted.get(member.group_id)?.get(member.user_id)
    const step = { source: sourceOf(member), member, level: level ?? 0 }
    const isGiven = member.provider === provider && member.access_level !== OWNER
    if (member.ended === 1) return isGiven || level !== undefined ? [{ ...step, verb: 'expire' }] : []
    kept.add(`${member.group_id} ${member.user_id}`)
    if (!isGiven || level === member.access_level) return []
    return [{ ...step, verb: level === undefined ? 'remove' : 'update' }]
  })
  return [...ending, ...(await additions(userIds, wanted, kept))]
}

const sourceOf = ({ group_id: id, group_name: name, group_path: path }: Current): Source =>
  sourceOfGroup({ id, name, path })

async function additions(userIds: readonly number[], wanted: WantedLevels, kept: ReadonlySet<string>): Promise<Step[]> {
  const groupIds = [...wanted.keys()]
  if (groupIds.length === 0) return []
  const [users, groups] = [
    await rows<Pick<MemberRow, 'name' | 'username' | 'state' | 'email'> & { readonly id: number }>(
      `select id, name, username, state, email from users where id in (${marks(userIds)})`,
      userIds
    ),
    await rows<{ id: number; name: string; path: string }>(
      `select id, name, path from namespaces where kind = 'group' and id in (${marks(groupIds)})`,
      groupIds
    )
  ]
  const now = new Date()
  return groups.flatMap(group =>
    users.flatMap(({ id, ...user }) => {
      const level = wanted.get(group.id)?.get(id)
      if (level === undefined || kept.has(`${group.id} ${id}`)) return []
      const times = { expires_at: null, created_at: now, updated_at: now }
      const member = { ...user, ...times, id: 0, user_id: id, access_level: level }
      return [{ verb: 'add' as const, source: sourceOfGroup(group), member, level }]
    })
  )
}

async function take(provider: string, steps: readonly Step[], origin: Origin): Promise<void> {
  await remove(steps.filter(({ verb }) => verb === 'remove' || verb === 'expire'))
  await change(steps.filter(({ verb }) => verb === 'update'))
  await add(
    provider,
    steps.filter(({ verb }) => verb === 'add')
  )
  await publishAll(steps.map(step => eventOf(step, origin)))
  await auditAll(origin, steps.map(entryOf))
}

async function remove(steps: readonly Step[]): Promise<void> {
  if (steps.length === 0) return
  const ids = steps.map(({ member }) => member.id)
  await execute(`delete from members where id in (${marks(ids)})`, ids)
}

async function change(steps: readonly Step[]): Promise<void> {
  for (const [level, some] of Map.groupBy(steps, step => step.level)) {
    const ids = some.map(({ member }) => member.id)
    await execute(`update members set access_level = ?, updated_at = ? where id in (${marks(ids)})`, [
      level,
      new Date(),
      ...ids
    ])
  }
}

async function add(provider: string, steps: readonly Step[]): Promise<void> {
  for (const [groupId, some] of Map.groupBy(steps, ({ source }) => source.id)) {
    const ids = some.map(({ member }) => member.user_id)
    await execute(
      `delete from access_requests where source_type = 'namespace' and source_id = ? and user_id in (${marks(ids)})`,
      [groupId, ...ids]
    )
    await execute(
      `insert into members (source_type, source_id, user_id, access_level, created_at, updated_at, provider)
       values ${some.map(() => "('namespace', ?, ?, ?, ?, ?, ?)").join(', ')}`,
      some.flatMap(({ member, level }) => [
        groupId,
        member.user_id,
        level,
        member.created_at,
        member.updated_at,
        provider
      ])
    )
  }
}

function eventOf({ verb, source, member, level }: Step, origin: Origin) {
  const by = doerOf(origin, member.user_id)
  if (verb === 'add') return { kind: 'member.added' as const, member: snapshotOf(source, member), by }
  if (verb === 'update') {
    return { kind: 'member.changed' as const, member: snapshotOf(source, { ...member, access_level: level }), by }
  }
  return { kind: 'member.removed' as const, member: snapshotOf(source, member), expired: verb === 'expire' }
}

function entryOf({ verb, source, member, level }: Step): AuditEntry {
  if (verb === 'add') return memberEntry(verb, source, member, changesBetween(null, termsOf(member)))
  if (verb !== 'update') return memberEntry(verb, source, member, changesBetween(termsOf(member), null))
  const after = { ...member, access_level: level }
  return memberEntry(verb, source, after, changesBetween(termsOf(member), termsOf(after)))
}
