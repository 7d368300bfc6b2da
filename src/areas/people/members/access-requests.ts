// Users request access to projects and groups that they see, and people who administer these approve or deny the requests.
import { type Origin, requireAsker } from '../../../access/actor.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { execute } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Forbidden, NotFound } from '../../../errors.js'
import { DEVELOPER } from '../../../lib/levels.js'
import { doerOf } from '../../ground/activity/authors.js'
import { publish } from '../../ground/activity/events.js'
import { audit } from '../../ground/audit/audit.js'
import { type AccessRequestRow, lockAccessRequest } from './access-requests.queries.js'
import { becomeMember, checkLevel, holdSource, lockLasting, type Source } from './members.js'
import type { MemberRow } from './members.queries.js'

/** Whether the source accepts requests, and the caller's current level in it. */
export interface RequestState {
  readonly enabled: boolean
  /** The caller's effective level; 0 without access. */
  readonly level: number
}

/** Requests access. Throws Forbidden when the source accepts no requests, and when the caller already has access or a request. */
export async function requestAccess(
  source: Source,
  { enabled, level }: RequestState,
  origin: Origin
): Promise<AccessRequestRow> {
  const asker = requireAsker(origin)
  if (!enabled || level > 0) throw new Forbidden()
  return transact(async () => {
    await holdSource(source)
    await insert(source, asker.id)
    const { id, username, name } = asker
    await publish({ kind: 'access.requested', source: source.snapshot, user: { id, username, name } })
    await auditRequest(origin, 'create', source, username)
    return requireRequest(source, asker.id)
  })
}

async function insert({ type, id }: Source, userId: number): Promise<void> {
  try {
    await execute('insert into access_requests (source_type, source_id, user_id, created_at) values (?, ?, ?, ?)', [
      type,
      id,
      userId,
      new Date()
    ])
  } catch (error) {
    if (duplicateKey(error)) throw new Forbidden()
    throw error
  }
}

/**
 * Makes the user who requested access a member, with the level Developer unless another level is given. Throws NotFound
 * without a request, Unprocessable for the level.
 */
export async function approveRequest(
  source: Source,
  userId: number,
  level: number = DEVELOPER,
  origin: Origin
): Promise<{ request: AccessRequestRow; member: MemberRow }> {
  checkLevel(source, level)
  return transact(async () => {
    const request = await requireRequest(source, userId)
    const known = await lockLasting(source, userId, origin)
    const member = known ?? (await becomeMember(source, { userId, level, expiresAt: null }, origin))
    return { request, member }
  })
}

/**
 * Withdraws or denies a request and returns it. Throws NotFound without a request, and Forbidden when the caller
 * neither made the request nor `administers` the source.
 */
export async function removeRequest(
  source: Source,
  userId: number,
  administers: boolean,
  origin: Origin
): Promise<AccessRequestRow> {
  return transact(async () => {
    const request = await requireRequest(source, userId)
    if (!administers && origin.asker?.id !== userId) throw new Forbidden()
    await execute('delete from access_requests where id = ?', [request.id])
    if (origin.asker?.id !== userId) {
      await publish({ kind: 'access.denied', source: source.snapshot, userId, by: doerOf(origin, userId) })
    }
    await auditRequest(origin, 'delete', source, request.username)
    return request
  })
}

async function requireRequest(source: Source, userId: number): Promise<AccessRequestRow> {
  const request = await lockAccessRequest(source, userId)
  if (!request) throw new NotFound()
  return request
}

const auditRequest = (origin: Origin, verb: 'create' | 'delete', { type, id, path }: Source, username: string) =>
  audit(origin, {
    action: `access_request.${verb}`,
    target: { type: type === 'project' ? 'project' : 'group', id, name: path },
    changes: { user: verb === 'create' ? { after: username } : { before: username } }
  })
