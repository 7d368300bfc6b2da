// The members of projects and groups, by the same rules.
import type { Origin } from '../../../access/actor.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { BadParameters, Conflict, Forbidden, Invalid, NotFound, Unprocessable } from '../../../errors.js'
import { batches } from '../../../lib/batches.js'
import { GUEST, type Level, levelName, MASTER, OWNER } from '../../../lib/levels.js'
import { parseMoment } from '../../../lib/moment.js'
import { doerOf } from '../../ground/activity/authors.js'
import { publish } from '../../ground/activity/events.js'
import type { MemberSnapshot, MemberSourceSnapshot } from '../../ground/activity/snapshots.js'
import { type AuditEntry, audit, changesBetween } from '../../ground/audit/audit.js'
import { findMember, hasOtherOwner, type MemberRow, type MemberSource } from './members.queries.js'
import type { MemberBody, MemberChange } from './members.schema.js'

/** A project or group with what the rules about its members need. */
export interface Source extends MemberSource {
  /** The full path. */
  readonly path: string
  /** The user in whose own namespace the project is; null for a group, and for a group's project. */
  readonly ownerId: number | null
  readonly snapshot: MemberSourceSnapshot
}

/** Makes a user a member, who must not be one yet. Call it inside `transact`. */
export async function insertMember(
  source: MemberSource,
  userId: number,
  level: Level | number,
  expiresAt: string | null = null
): Promise<void> {
  const now = new Date()
  await execute(
    `insert into members (source_type, source_id, user_id, access_level, expires_at, created_at, updated_at)
     values (?, ?, ?, ?, ?, ?, ?)`,
    [source.type, source.id, userId, level, expiresAt, now, now]
  )
}

/** A membership of an imported project. */
export interface ImportedMember {
  readonly userId: number
  readonly level: number
  readonly expiresAt: string | null
  readonly createdAt: Date
}

/** Inserts memberships of an imported project. The owner of its namespace is a member already, and stays as it is. */
export async function insertImportedMembers(projectId: number, members: readonly ImportedMember[]): Promise<void> {
  const now = new Date()
  for (const some of batches(members, 500)) {
    await execute(
      `insert ignore into members (source_type, source_id, user_id, access_level, expires_at, created_at, updated_at)
       values ${some.map(() => "('project', ?, ?, ?, ?, ?, ?)").join(', ')}`,
      some.flatMap(({ userId, level, expiresAt, createdAt }) => [projectId, userId, level, expiresAt, createdAt, now])
    )
  }
}

/**
 * Adds a member; a pending request of that user is approved with the given level. Throws Unprocessable for a level that
 * does not exist there, NotFound for the user, Invalid and BadParameters for the expiry date, and Conflict when the
 * user is already a member of the group. Returns an existing member of a project unchanged.
 */
export async function addMember(source: Source, body: MemberBody, origin: Origin): Promise<MemberRow> {
  checkLevel(source, body.access_level)
  const expiresAt = readEnd(body.expires_at) ?? null
  return transact(async () => {
    await holdSource(source)
    await holdFutureMember(body.user_id)
    const known = await lockLasting(source, body.user_id, origin)
    if (known && source.type === 'namespace') throw new Conflict('Member already exists')
    if (known) return known
    return becomeMember(source, { userId: body.user_id, level: body.access_level, expiresAt }, origin)
  })
}

/**
 * Returns the membership of a user and locks it. An expired membership stays until the daily task and must not block a
 * new one, so it is removed now. Call it inside `transact`.
 */
export async function lockLasting(source: Source, userId: number, origin: Origin): Promise<MemberRow | undefined> {
  const known = await findMember(source, userId, { lock: true })
  if (!known?.expires_at || new Date(known.expires_at) > new Date()) return known
  await endMembership(source, known, origin, { expired: true })
  return undefined
}

/** Writes a new membership with its effects, and ends the request for access. Call it inside `transact`. */
export async function becomeMember(
  source: Source,
  { userId, level, expiresAt }: { userId: number; level: number; expiresAt: string | null },
  origin: Origin
): Promise<MemberRow> {
  await execute('delete from access_requests where source_type = ? and source_id = ? and user_id = ?', [
    source.type,
    source.id,
    userId
  ])
  await insertMember(source, userId, level, expiresAt)
  const member = await requireMember(source, userId)
  await publish({ kind: 'member.added', member: snapshotOf(source, member), by: doerOf(origin, userId) })
  await auditMember(origin, 'add', source, member, changesBetween(null, termsOf(member)))
  return member
}

/**
 * Changes the level and the expiry date of a member. Not specified: an absent `expires_at` keeps the date. Throws
 * NotFound when the user is not a member, Unprocessable for the level, Forbidden for the last owner of a group and for
 * the owner of a personal project, Invalid and BadParameters.
 */
export async function updateMember(
  source: Source,
  userId: number,
  change: MemberChange,
  origin: Origin
): Promise<MemberRow> {
  checkLevel(source, change.access_level)
  const end = readEnd(change.expires_at)
  return transact(async () => {
    const before = await requireMember(source, userId, { lock: true })
    // Decided: as with removals, a group keeps an owner.
    if (change.access_level !== OWNER || end) await requireReplaceable(source, before)
    await execute('update members set access_level = ?, expires_at = ?, updated_at = ? where id = ?', [
      change.access_level,
      end === undefined ? before.expires_at : end,
      new Date(),
      before.id
    ])
    const after = await requireMember(source, userId)
    const changes = changesBetween(termsOf(before), termsOf(after))
    if (Object.keys(changes).length === 0) return after
    await publish({ kind: 'member.changed', member: snapshotOf(source, after), by: doerOf(origin, userId) })
    await auditMember(origin, 'update', source, after, changes)
    return after
  })
}

/**
 * Ends a membership and returns it; undefined when the user was not a member. Throws Forbidden for the last owner of a
 * group and for the owner of a personal project.
 */
export async function removeMember(source: Source, userId: number, origin: Origin): Promise<MemberRow | undefined> {
  return transact(async () => {
    const member = await findMember(source, userId, { lock: true })
    if (!member) return undefined
    await requireReplaceable(source, member)
    await endMembership(source, member, origin, { expired: false })
    return member
  })
}

/** Deletes a membership with its effects. Call it inside `transact`, with the row locked. */
export async function endMembership(
  source: Source,
  member: MemberRow,
  origin: Origin,
  { expired }: { expired: boolean }
): Promise<void> {
  await execute('delete from members where id = ?', [member.id])
  await publish({ kind: 'member.removed', member: snapshotOf(source, member), expired })
  await auditMember(origin, expired ? 'expire' : 'remove', source, member, changesBetween(termsOf(member), null))
}

/** Throws Unprocessable for a level that does not exist in such a source: only groups have owners. */
export function checkLevel({ type }: MemberSource, level: number): void {
  const highest = type === 'namespace' ? OWNER : MASTER
  if (level % 10 === 0 && level >= GUEST && level <= highest) return
  throw new Unprocessable('Access level is not known')
}

/** Returns the day of expiry: null for none, undefined when the text is absent. Throws BadParameters, Invalid. */
export function readEnd(text: string | null | undefined): string | null | undefined {
  if (text === undefined || text === null || text === '') return text === undefined ? undefined : null
  const moment = parseMoment(text)
  if (!moment) throw new BadParameters('expires_at is invalid')
  // Not specified: a membership cannot begin after its end.
  if (moment.getTime() <= Date.now()) throw new Invalid('expires_at', 'must be in the future')
  return moment.toISOString().slice(0, 10)
}

/** Throws Forbidden when the group would have no owner then, or when the member owns the project. */
async function requireReplaceable(source: Source, member: MemberRow): Promise<void> {
  if (source.ownerId === member.user_id) throw new Forbidden()
  if (source.type === 'project' || member.access_level < OWNER) return
  if (!(await hasOtherOwner(source.id, member.user_id))) throw new Forbidden()
}

async function requireMember(source: MemberSource, userId: number, lock = { lock: false }): Promise<MemberRow> {
  const member = await findMember(source, userId, lock)
  if (!member) throw new NotFound()
  return member
}

/** Prevents the deletion of the source until the transaction ends. Throws NotFound when it no longer exists. */
export async function holdSource({ type, id }: MemberSource): Promise<void> {
  const table = type === 'project' ? 'projects' : 'namespaces'
  const found = await row(`select id from ${table} where id = ? lock in share mode`, [id])
  if (!found) throw new NotFound(type === 'project' ? 'Project' : 'Group')
}

/**
 * Prevents the deletion of the user until the transaction ends, and a membership by another request: two requests that
 * find no member would both write one. Throws NotFound.
 */
async function holdFutureMember(userId: number): Promise<void> {
  if (!(await lockRow('users', userId))) throw new NotFound('User')
}

export const termsOf = ({ access_level, expires_at }: MemberRow) => ({ access_level, expires_at })

export const snapshotOf = (source: Source, member: MemberRow): MemberSnapshot => ({
  access_level: member.access_level,
  created_at: member.created_at,
  updated_at: member.updated_at,
  user: { id: member.user_id, username: member.username, name: member.name, email: member.email },
  source: source.snapshot
})

const auditMember = (
  origin: Origin,
  verb: MemberVerb,
  source: Source,
  member: MemberRow,
  changes: ReturnType<typeof changesBetween>
) => audit(origin, memberEntry(verb, source, member, changes))

type MemberVerb = 'add' | 'update' | 'remove' | 'expire'

/** Returns what the audit keeps of a change of a membership. */
export const memberEntry = (
  verb: MemberVerb,
  source: Source,
  member: Pick<MemberRow, 'username' | 'access_level'>,
  changes: ReturnType<typeof changesBetween>
): AuditEntry => ({
  action: `member.${verb}`,
  target: { type: source.type === 'project' ? 'project' : 'group', id: source.id, name: source.path },
  changes: { user: { after: member.username }, level: { after: levelName(member.access_level) }, ...changes }
})
