// Accounts that a directory manages through SCIM. It sees and changes only these: accounts that it has created, and those whose
// identity at `identity.scim.provider` has its `externalId`. An equal name or address is no proof, so it never takes over others.
import type { Origin } from '../../../access/actor.js'
import { config } from '../../../config.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { execute } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict, Forbidden, NotFound } from '../../../errors.js'
import { NO_PASSWORD } from '../../../lib/password-hash.js'
import { newToken } from '../../../secrets.js'
import { audit, changesBetween } from '../../ground/audit/audit.js'
import { findByIdentity } from '../identity/provision.js'
import { freeUsername } from '../identity/usernames.js'
import { ADDRESS_TAKEN, dropUnconfirmed, isAddress } from '../users/emails.js'
import { isNeededAdmin } from '../users/last-admin.js'
import { isSuspended } from '../users/suspension.js'
import { checkUser } from '../users/user-rules.js'
import { blockUser, unblockUser } from '../users/user-state.js'
import { updateUser } from '../users/user-update.js'
import { insertUsers } from '../users/users.js'
import { ScimFailure } from './failures.js'
import { applyMemberships } from './memberships.js'
import { addWhole, applyOperations, type Draft, emptyDraft, type Operation } from './patch.js'
import { findScimUser, type ScimUserRow, scimUserNamed, scimUserOf } from './scim-users.queries.js'
import { draftOfUser, nameOf, USER_ATTRIBUTES, type UserValues, valuesOf } from './user-draft.js'
import { userVersion } from './user-resource.js'
import { type Change, requireVersion } from './versions.js'

/** In `users.block_reason`: only the directory unblocks whom it has blocked, or an administrator. */
const BLOCK_REASON = 'scim'

const taken = (what: string) => new ScimFailure('uniqueness', what)

/** The provider whose identities the directory knows: its `externalId` is the id of a person there. */
const provider = () => config().identity.scim.provider ?? 'scim'

/**
 * Creates an account, or takes the one that belongs to the person: with the identity of the `externalId`, or deleted by the directory
 * before. Returns its id. Throws ScimFailure, also when another account has the name or the address.
 */
export async function createScimUser(body: unknown, origin: Origin): Promise<number> {
  const draft = emptyDraft()
  addWhole(draft, body, USER_ATTRIBUTES)
  const values = valuesOf(draft)
  return naming(values, () =>
    transact(async () => {
      const known = await ownerOf(values)
      const id = known ?? (await insertAccount(values, origin))
      await execute(
        `insert into scim_users (user_id, user_name, external_id, created_at, updated_at) values (?, ?, ?, ?, ?)
         on duplicate key update external_id = values(external_id), deleted_at = null`,
        [id, values.userName, values.externalId, new Date(), new Date()]
      )
      await audit(origin, { action: 'scim_user.create', target: { type: 'user', id, name: values.userName } })
      await write(id, { ...values, active: values.active ?? true }, origin)
      return id
    })
  )
}

/** Returns the id of the account that belongs to a new user of the directory; undefined when none does. Throws ScimFailure. */
async function ownerOf({ userName, externalId }: UserValues): Promise<number | undefined> {
  const named = await scimUserNamed(userName)
  if (named && named.deleted_at === null) throw taken('userName belongs to another user')
  const linked = externalId === null ? undefined : await findByIdentity(provider(), externalId)
  if (linked) {
    const owner = await scimUserOf(linked.id)
    if (owner && owner.deleted_at === null) throw taken('externalId belongs to another user')
    if (named && named.id !== linked.id) throw taken('userName belonged to another user')
    return linked.id
  }
  // A name that comes back may be that of another person, who must not get the account of the first. Only the id proves it.
  if (named && externalId === null) {
    throw taken(`userName belonged to ${named.username}, who was deleted: send an externalId, or delete that user here`)
  }
  if (named && named.external_id !== externalId) throw taken('userName belonged to a user with another externalId')
  return named?.id
}

async function insertAccount(values: UserValues, origin: Origin): Promise<number> {
  const { userName, externalId, email } = values
  const address = email?.value ?? (isAddress(userName) ? userName : undefined)
  if (address === undefined) throw new ScimFailure('invalidValue', 'emails is missing, and userName is not an address')
  const identity = externalId === null ? {} : { provider: provider(), extern_uid: externalId }
  const checked = { username: await freeUsername(userName), name: nameOf(values), email: address, ...identity }
  checkUser(checked)
  // A user who has entered this address for another account without confirming it does not own it.
  await dropUnconfirmed(address)
  const draft = { body: { ...checked, password: '' }, passwordHash: NO_PASSWORD, privateToken: newToken() }
  const [id = 0] = await insertUsers([draft], origin)
  return id
}

/** Gives a user exactly the attributes of a body. Throws ScimFailure, NotFound, Forbidden, OtherVersion. */
export async function replaceScimUser(id: number, body: unknown, by: Change): Promise<void> {
  await change(id, by, () => {
    const draft = emptyDraft()
    addWhole(draft, body, USER_ATTRIBUTES)
    return draft
  })
}

/** Changes a user by operations. Throws ScimFailure, NotFound, Forbidden, OtherVersion. */
export async function patchScimUser(id: number, operations: readonly Operation[], by: Change): Promise<void> {
  await change(id, by, user => {
    const draft = draftOfUser(user)
    applyOperations(draft, operations, USER_ATTRIBUTES)
    return draft
  })
}

async function change(id: number, by: Change, draftFrom: (user: ScimUserRow) => Draft): Promise<void> {
  await transact(async () => {
    const user = await requireLocked(id)
    requireVersion(by, userVersion(user))
    const values = valuesOf(draftFrom(user))
    await naming(values, () => write(id, values, by.origin))
  })
}

/**
 * Deletes a user as far as the directory sees it. The account is blocked and leaves the groups of the directory; all that the user has
 * written stays. Throws NotFound, OtherVersion, and Forbidden for the last administrator.
 */
export async function deleteScimUser(id: number, by: Change): Promise<void> {
  const { origin } = by
  await transact(async () => {
    const user = await requireLocked(id)
    requireVersion(by, userVersion(user))
    await setActive(user, false, origin)
    await noteMemberOf(id)
    await execute('delete from scim_group_members where user_id = ?', [id])
    await applyMemberships([id], origin)
    const now = new Date()
    await execute('update scim_users set deleted_at = ?, updated_at = ? where user_id = ?', [now, now, id])
    await audit(origin, { action: 'scim_user.delete', target: { type: 'user', id, name: user.username } })
  })
}

/** The groups of a user show the user. */
const noteMemberOf = (id: number) =>
  execute(
    'update scim_groups set version = version + 1 where id in (select group_id from scim_group_members where user_id = ?)',
    [id]
  )

async function requireLocked(id: number): Promise<ScimUserRow> {
  await lockRow('users', id)
  const user = await findScimUser(id)
  if (!user) throw new NotFound('User')
  return user
}

/** Writes what differs. */
async function write(id: number, values: UserValues, origin: Origin): Promise<void> {
  const user = await requireLocked(id)
  const before = valuesOf(draftOfUser(user))
  // Not specified: a directory that leaves out the id of a person, or all addresses, does not mean to take them away.
  const after = { ...values, externalId: values.externalId ?? before.externalId, email: values.email ?? before.email }
  const account = accountChange(user, before, after)
  if (user.admin === 1 && (account.email !== undefined || account.extern_uid !== undefined)) {
    throw new Forbidden('the address and the externalId of an administrator cannot be changed through SCIM')
  }
  if (Object.keys(account).length > 0) await updateUser(id, account, origin)
  await setActive(user, values.active, origin)
  const changes = changesBetween(namesOf(before), namesOf(after))
  const isActive = values.active ?? user.state === 'active'
  if (Object.keys({ ...changes, ...account }).length === 0 && isActive === (user.state === 'active')) return
  await execute(
    `update scim_users set user_name = ?, external_id = ?, display_name = ?, formatted_name = ?, given_name = ?,
       family_name = ?, email_type = ?, updated_at = ? where user_id = ?`,
    [
      after.userName,
      after.externalId,
      after.displayName,
      after.formatted,
      after.givenName,
      after.familyName,
      after.email?.type ?? user.email_type,
      new Date(),
      id
    ]
  )
  if (after.userName !== before.userName) await noteMemberOf(id)
  if (Object.keys(changes).length === 0) return
  await audit(origin, { action: 'scim_user.update', target: { type: 'user', id, name: user.username }, changes })
}

const namesOf = ({ active: _, email, ...names }: UserValues) => ({ ...names, emailType: email?.type })

/** Returns the changes of the account itself. What its user has changed stays until the directory changes its own value. */
function accountChange(user: ScimUserRow, before: UserValues, after: UserValues) {
  const [name, email] = [nameOf(after), after.email?.value]
  return {
    ...(nameOf(before) !== name && name !== user.name && { name }),
    ...(email !== undefined && email.toLowerCase() !== user.email.toLowerCase() && { email }),
    ...(after.externalId !== null &&
      after.externalId !== before.externalId && { provider: provider(), extern_uid: after.externalId })
  }
}

/**
 * Blocks a user, or unblocks one whom the directory has blocked: a block by an administrator stays. Throws Forbidden for an
 * administrator without whom nobody could sign in.
 */
async function setActive(user: ScimUserRow, active: boolean | undefined, origin: Origin): Promise<void> {
  const { id, state, block_reason: reason } = user
  if (active === true && state === 'blocked' && reason === BLOCK_REASON) await unblockUser(id, origin)
  // Not specified: an account that waits for approval. The block replaces that, and the directory vouches for whom it unblocks.
  if (active !== false || !(state === 'active' || isSuspended(user))) return
  if (user.admin === 1 && (await isNeededAdmin(id))) {
    throw new Forbidden('the last active administrator cannot be blocked')
  }
  await blockUser(id, origin, BLOCK_REASON)
}

/** Names what another account has. */
async function naming<T>({ externalId }: UserValues, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (duplicateKey(error) === 'scim_users_user_name') throw taken('userName belongs to another user')
    if (!(error instanceof Conflict)) throw error
    const link = `gitstead identities link USER ${provider()} ${externalId ?? 'EXTERNALID'}`
    throw taken(
      error.message === ADDRESS_TAKEN
        ? `another account has this address; if it belongs to the same person, a sysadmin can link both: ${link}`
        : error.message
    )
  }
}
