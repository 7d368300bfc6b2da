import type { Origin } from '../../../access/actor.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { execute, lowerMarks, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { addTrigrams, USER_TEXTS } from '../../../db/lists/trigrams.js'
import { Namespace, User } from '../../../db/models/index.js'
import { Conflict, Invalid } from '../../../errors.js'
import { hashPassword } from '../../../lib/password-hash.js'
import { decrypt, encrypt, newToken, tokenHash } from '../../../secrets.js'
import { publishAll } from '../../ground/activity/events.js'
import { userSnapshot } from '../../ground/activity/snapshots.js'
import { auditAll, changesBetween } from '../../ground/audit/audit.js'
import { takeNamespacePaths } from '../../ground/paths/redirects.js'
import { applicationSettings } from '../../ground/settings/settings.queries.js'
import { ADDRESS_TAKEN, checkAddressesFree } from './emails.js'
import { insertIdentities } from './identities.js'
import { checkChosenPassword, checksGivenPasswords } from './password-rules.js'
import { PENDING } from './suspension.js'
import { checkUser } from './user-rules.js'
import { findPrivateToken } from './users.queries.js'
import type { UserBody } from './users.schema.js'

/** A user before the write, with the values that take long to compute. */
export interface UserDraft {
  readonly body: UserBody
  readonly passwordHash: string
  readonly privateToken: string
  /** Whether a provider has decided about `admin` and `external`. */
  readonly rightsByProvider?: true
  /** Why the new user is blocked (suspension.ts, ghost.ts). */
  readonly reason?: string
}

/**
 * Creates a user with a namespace and a private token. Throws Conflict for a taken address or name ("Users, keys,
 * session"), Invalid for values that a user cannot have.
 */
export async function createUser(body: UserBody, origin: Origin): Promise<{ id: number; privateToken: string }> {
  checkUser(body)
  if (checksGivenPasswords()) await checkChosenPassword(body.password, body)
  const draft = await draftUser(body)
  const [id = 0] = await insertUsers([draft], origin, { mail: true })
  return { id, privateToken: draft.privateToken }
}

/** Hashes the password, which takes most of the time of creating a user. */
export const draftUser = async (body: UserBody): Promise<UserDraft> => ({
  body,
  passwordHash: await hashPassword(body.password),
  privateToken: newToken()
})

/**
 * Writes all of the users or none; their attributes must be checked already. Returns their ids in the same order.
 * Throws Conflict when an address, name or identity of one of them is taken. Not specified: whether imported users get
 * a welcome mail. With `mail`, they do.
 */
export async function insertUsers(
  drafts: readonly UserDraft[],
  origin: Origin,
  { mail = false } = {}
): Promise<number[]> {
  return transact(async () => {
    // Checks the address before the name, because the requirement puts the two conflicts in this order.
    await checkAddressesFree(drafts.map(({ body }) => body.email))
    const users = await insertRows(drafts)
    await addTrigrams(
      USER_TEXTS,
      users.map(({ id, name, username, email }) => ({ id, texts: [name, username, email] }))
    )
    await insertNamespaces(users)
    await insertIdentitiesOf(drafts, users)
    await insertPrivateTokens(users.map(({ id }, at) => ({ userId: id, token: drafts[at]?.privateToken ?? '' })))
    const mailTo = (draft?: UserDraft) =>
      draft?.body.confirm === false ? { mail: 'confirmation' as const } : mail && { mail: 'welcome' as const }
    await publishAll(
      users.map((user, at) => ({ kind: 'user.created', user: userSnapshot(user), ...mailTo(drafts[at]) }))
    )
    await publishAll(
      users.filter((_, at) => drafts[at]?.reason === PENDING).map(({ id }) => ({ kind: 'approval.asked', userId: id }))
    )
    await auditAll(
      origin,
      users.map(({ id, username }, at) => ({
        action: 'user.create',
        target: { type: 'user', id, name: username },
        changes: changesBetween(null, drafts[at]?.body ?? null)
      }))
    )
    return users.map(({ id }) => id)
  })
}

/** Returns the private token of a user, which the database stores encrypted. Throws Invalid when there is none. */
export async function revealPrivateToken(userId: number): Promise<string> {
  const box = await findPrivateToken(userId)
  if (!box) throw new Invalid('private_token', 'is missing')
  return decrypt(box)
}

async function insertPrivateTokens(tokens: readonly { userId: number; token: string }[]): Promise<void> {
  const now = new Date()
  await execute(
    `insert into access_tokens (token_hash, user_id, kind, encrypted, created_at)
     values ${tokens.map(() => "(?, ?, 'private', ?, ?)").join(', ')}`,
    tokens.flatMap(({ userId, token }) => [tokenHash(token), userId, encrypt(token), now])
  )
}

/** Returns the rows in the order of the drafts. */
async function insertRows(drafts: readonly UserDraft[]): Promise<User[]> {
  const { default_projects_limit: limit } = await applicationSettings()
  try {
    await User.bulkCreate(drafts.map(draft => columnsOf(draft, limit)))
  } catch (error) {
    throw takenBy(error)
  }
  // An insert of many rows does not return the id of each, and on a cluster the ids do not ascend by one. So they are read back.
  const names = drafts.map(({ body }) => body.username)
  const sql = `select id from users where username_key in (${lowerMarks(names)})`
  const ids = (await rows<{ id: number }>(sql, names)).map(({ id }) => id)
  const found = await User.findAll({ where: { id: ids } })
  const byName = new Map(found.map(user => [user.username, user]))
  return names.map(name => {
    const user = byName.get(name)
    if (!user) throw new Error(`the row of ${name} was not found again`)
    return user
  })
}

/** Decided: unless `confirm` is false, the administrator who creates the user confirms the address. */
function confirmationOf({ confirm }: UserBody) {
  const at = confirm === false ? null : new Date()
  return { confirmedAt: at, emailConfirmedAt: at }
}

const columnsOf = ({ body, passwordHash, reason, rightsByProvider }: UserDraft, projectsLimit: number) => ({
  ...(reason !== undefined && { state: 'blocked' as const, blockReason: reason }),
  ...confirmationOf(body),
  username: body.username,
  name: body.name,
  email: body.email,
  passwordHash,
  admin: body.admin ?? false,
  external: body.external ?? false,
  ...(!rightsByProvider && { adminByHand: body.admin ?? false, externalByHand: body.external ?? false }),
  bio: body.bio ?? null,
  location: body.location ?? null,
  messenger: body.messenger ?? '',
  professionalNetwork: body.professional_network ?? '',
  microblog: body.microblog ?? '',
  websiteUrl: body.website_url ?? '',
  organization: body.organization ?? '',
  projectsLimit: body.projects_limit ?? projectsLimit,
  canCreateGroup: body.can_create_group ?? true
})

async function insertNamespaces(users: readonly User[]): Promise<void> {
  const names = users.map(({ username }) => username)
  try {
    await Namespace.bulkCreate(
      users.map(({ id, username }) => ({ kind: 'user', ownerId: id, name: username, path: username }))
    )
  } catch (error) {
    throw takenBy(error)
  }
  await takeNamespacePaths(names, { attribute: 'username' })
}

async function insertIdentitiesOf(drafts: readonly UserDraft[], users: readonly User[]): Promise<void> {
  const identities = drafts.flatMap(({ body: { provider, extern_uid } }, at) => {
    const userId = users[at]?.id
    return provider === undefined || extern_uid === undefined || userId === undefined
      ? []
      : [{ userId, provider, externUid: extern_uid }]
  })
  try {
    await insertIdentities(identities)
  } catch (error) {
    throw takenBy(error)
  }
}

/** Turns the error of a user's write into a Conflict when an address, name or identity is taken; otherwise returns the error. */
export function takenBy(error: unknown): unknown {
  const key = duplicateKey(error)
  if (key === 'users_email') return new Conflict(ADDRESS_TAKEN)
  if (key === 'users_username' || key === 'namespaces_path') return new Conflict('Username has already been taken')
  if (key === 'identities_provider') return new Conflict('Extern uid has already been taken')
  return error
}
