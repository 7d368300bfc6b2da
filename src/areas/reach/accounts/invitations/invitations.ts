// People who may change the members of a project or group invite others by mail. The link in the mail proves that its user reads the
// mails of the address. A member is only somebody whose account has the address, so a forwarded link lets nobody in with another
// account.
import type { ActorUser, Origin } from '../../../../access/actor.js'
import { config } from '../../../../config.js'
import { execute, row } from '../../../../db/connect/sql.js'
import { transact } from '../../../../db/connect/transact.js'
import { Forbidden, Invalid, NotFound, TooManyRequests } from '../../../../errors.js'
import { levelName } from '../../../../lib/levels.js'
import { lineProblem } from '../../../../lib/text-line.js'
import { removeRows, type Task } from '../../../../queue/task.js'
import { publish } from '../../../ground/activity/events.js'
import { audit } from '../../../ground/audit/audit.js'
import { applicationSettings } from '../../../ground/settings/settings.queries.js'
import { countTry } from '../../../people/credentials/request-limits.js'
import {
  becomeMember,
  checkLevel,
  holdSource,
  lockLasting,
  readEnd,
  type Source
} from '../../../people/members/members.js'
import { findSource } from '../../../people/members/sources.js'
import { dropUnconfirmed, isAddress } from '../../../people/users/emails.js'
import { checkChosenPassword } from '../../../people/users/password-rules.js'
import { PENDING } from '../../../people/users/suspension.js'
import { checkUser } from '../../../people/users/user-rules.js'
import { draftUser, insertUsers } from '../../../people/users/users.js'
import { readLink } from '../../mail/links.js'
import { domainProblem } from '../domains.js'
import { proofOf, SPENT } from '../link-proofs.js'
import { limitSignUps } from '../rate-limits.js'
import { maySignUp, needsApproval } from '../sign-ups.js'
import {
  findInvitation,
  hasAddress,
  INVITATION_DAYS,
  type InvitationRow,
  mayStillInvite,
  oldestInvitation
} from './invitations.queries.js'

/** Pending invitations of one project or group. */
const MOST = 100
const HOUR_S = 3600
const BY_PERSON = { what: 'invitations by a person', most: 50, seconds: HOUR_S }
const TO_ADDRESS = { what: 'invitations to an address', most: 3, seconds: HOUR_S }
const OFF = 'Invitations are switched off'

export interface NewInvitation {
  readonly address: string
  readonly access_level: number
  readonly expires_at?: string | null
}

/**
 * Invites an address. A second invitation of the same address replaces the first, whose link then does not work any more. Throws
 * Forbidden while invitations are switched off, Invalid, Unprocessable for the level, BadParameters, and TooManyRequests.
 */
export async function invite(source: Source, body: NewInvitation, origin: Origin): Promise<InvitationRow> {
  if (!config().identity.accounts.invitations) throw new Forbidden(OFF)
  const address = body.address.trim()
  const problem = isAddress(address) ? lineProblem(address, 254) : 'is invalid'
  if (problem) throw new Invalid('email', problem)
  checkLevel(source, body.access_level)
  const expiresAt = readEnd(body.expires_at) ?? null
  await limit(BY_PERSON, origin.asker ? String(origin.asker.id) : 'command')
  await limit(TO_ADDRESS, address.normalize('NFKC').toLowerCase())
  return transact(async () => {
    await holdSource(source)
    await requireRoom(source)
    const values = [source.type, source.id, address, address.toLowerCase()]
    await execute('delete from invitations where source_type = ? and source_id = ? and address_key = ?', [
      source.type,
      source.id,
      address.toLowerCase()
    ])
    const { insertId } = await execute(
      `insert into invitations (source_type, source_id, address, address_key, user_id, access_level, expires_at, created_at)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
      [...values, origin.asker?.id ?? null, body.access_level, expiresAt, new Date()]
    )
    await publish({ kind: 'invitation.sent', invitationId: insertId })
    const made = await findInvitation(insertId)
    if (!made) throw new NotFound('Invitation')
    await auditInvitation('create', source, made, origin)
    return made
  })
}

async function limit(of: typeof BY_PERSON, key: string): Promise<void> {
  const seconds = await countTry(of, key)
  if (seconds > 0) throw new TooManyRequests(seconds)
}

async function requireRoom({ type, id }: Source): Promise<void> {
  const found = await row<{ total: number }>(
    'select count(*) as total from invitations where source_type = ? and source_id = ? and created_at >= ?',
    [type, id, oldestInvitation()]
  )
  if (Number(found?.total ?? 0) >= MOST) throw new Invalid('email', `is one too many (maximum is ${MOST} invitations)`)
}

/** Withdraws an invitation. Throws NotFound. */
export function revokeInvitation(source: Source, id: number, origin: Origin): Promise<InvitationRow> {
  return transact(async () => {
    const found = await findInvitation(id)
    if (found?.source_type !== source.type || found.source_id !== source.id) throw new NotFound('Invitation')
    await use(found)
    await auditInvitation('delete', source, found, origin)
    return found
  })
}

/** The proof of a link. It changes when the address is invited again, also with another level. */
export const invitationProof = ({ id, address, access_level, expires_at, created_at }: InvitationRow): string =>
  proofOf(String(id), address, String(access_level), expires_at ?? '', created_at.toISOString())

export const endOfInvitation = ({ created_at }: InvitationRow): Date =>
  new Date(created_at.getTime() + INVITATION_DAYS * 86_400_000)

export interface Invitation {
  readonly row: InvitationRow
  readonly source: Source
}

/** Returns the invitation of a link. Throws Forbidden when the link does not work any more. */
export async function invitationOfLink(token: string): Promise<Invitation> {
  const values = readLink('invitation', token)
  const found = values && (await findInvitation(values.id))
  if (!found || invitationProof(found) !== values.proof) throw new Forbidden(SPENT)
  const source = await findSource({ type: found.source_type, id: found.source_id })
  if (!source || !(await mayStillInvite(found))) throw new Forbidden(SPENT)
  return { row: found, source }
}

/** Returns whether this account may accept: the address must be a confirmed one of it. */
export const mayAccept = (user: { readonly id: number }, { row: { address } }: Invitation): Promise<boolean> =>
  hasAddress(user.id, address)

/**
 * Makes a user a member by a link. An existing member stays as it is. Throws Forbidden when the link does not work any more, and when
 * the account does not have the address.
 */
export function acceptInvitation(token: string, user: ActorUser, origin: Origin): Promise<Invitation> {
  return transact(async () => {
    const invitation = await invitationOfLink(token)
    if (!(await mayAccept(user, invitation))) {
      throw new Forbidden(
        `This invitation is for ${invitation.row.address}, which is no confirmed address of your account`
      )
    }
    await use(invitation.row)
    await join(invitation, user.id, origin)
    return invitation
  })
}

export interface InvitedPerson {
  readonly username: string
  readonly name: string
  readonly password: string
}

/** Returns whether invited people may create an account. */
export const mayInvitedSignUp = async (): Promise<boolean> =>
  (await maySignUp()) || (config().identity.passwords.local && config().identity.accounts.invited_sign_up)

/**
 * Creates the account of an invited person, who becomes a member. The link proves the address. Throws Forbidden when the link does not
 * work any more or invited people may not sign up, TooManyRequests, Invalid, and Conflict when somebody has the address or the name.
 */
export async function signUpInvited(token: string, person: InvitedPerson, client: string): Promise<Invitation> {
  const { address: email } = (await invitationOfLink(token)).row
  if (!(await mayInvitedSignUp())) throw new Forbidden('Ask an administrator for an account, then open this link again')
  await limitSignUps(client)
  const body = { ...person, email }
  checkUser(body)
  const problem = domainProblem(email, await applicationSettings())
  if (problem) throw new Invalid('email', problem)
  await checkChosenPassword(person.password, body)
  const draft = { ...(await draftUser(body)), ...(needsApproval() && { reason: PENDING }) }
  return transact(async () => {
    const invitation = await invitationOfLink(token)
    await use(invitation.row)
    // A user who has entered this address for another account without confirming it does not own it.
    await dropUnconfirmed(email)
    const { username, name } = person
    const origin: Origin = { user: null, asker: null, name: username, actingAs: null, via: 'link', address: client }
    const [id = 0] = await insertUsers([draft], origin)
    const user = { id, username, name, email, admin: false, external: false }
    await join(invitation, id, { ...origin, user, asker: user })
    return invitation
  })
}

/** Of two concurrent calls, only one finds the row. */
async function use({ id }: InvitationRow): Promise<void> {
  const { affectedRows } = await execute('delete from invitations where id = ?', [id])
  if (affectedRows === 0) throw new Forbidden(SPENT)
}

async function join({ row: found, source }: Invitation, userId: number, origin: Origin): Promise<void> {
  await holdSource(source)
  await auditInvitation('accept', source, found, origin)
  if (await lockLasting(source, userId, origin)) return
  const expired = found.expires_at !== null && new Date(found.expires_at) <= new Date()
  if (expired) throw new Forbidden(SPENT)
  await becomeMember(source, { userId, level: found.access_level, expiresAt: found.expires_at }, origin)
}

const auditInvitation = (
  verb: 'create' | 'accept' | 'delete',
  source: Source,
  { address, access_level: level, by_name: by }: InvitationRow,
  origin: Origin
) =>
  audit(origin, {
    action: `invitation.${verb}`,
    target: { type: source.type === 'project' ? 'project' : 'group', id: source.id, name: source.path },
    changes: {
      address: { after: address },
      level: { after: levelName(level) },
      ...(verb === 'accept' && { invited_by: { after: by ?? 'a command' } })
    }
  })

export const oldInvitations: Task = {
  name: 'old_invitations',
  schedule: '33 4 * * *',
  about: `removes invitations that nobody has accepted within ${INVITATION_DAYS} days`,
  run: context => removeRows(context, 'invitations', 'created_at < ?', [oldestInvitation()])
}
