import type { Origin } from '../../access/actor.js'
import { duplicateKey } from '../../db/failure.js'
import { AccessToken, Identity, Namespace, User } from '../../db/models/index.js'
import { transact } from '../../db/transact.js'
import { BadParameters, Conflict, Invalid } from '../../errors.js'
import { decrypt, encrypt, newToken, tokenHash } from '../../secrets.js'
import { userPayload } from '../../webhooks/system-payloads.js'
import { audit, changesBetween } from '../admin/audit.js'
import { emitEvent } from '../admin/events.js'
import { pathProblem } from '../projects/paths.js'
import { checkAddressFree, isAddress } from './emails.js'
import { hashPassword } from './passwords.js'
import { findPrivateToken } from './users.queries.js'
import type { UserBody } from './users.schema.js'

const PASSWORD_MINIMUM = 8

/**
 * Creates a user with a namespace and a private token. Throws Conflict for a taken address or name ("Users, keys,
 * session"), Invalid for values that a user cannot have.
 */
export async function createUser(body: UserBody, origin: Origin): Promise<{ id: number; privateToken: string }> {
  checkUser(body)
  const passwordHash = await hashPassword(body.password)
  const privateToken = newToken()
  return transact(async () => {
    const user = await insertUser(body, passwordHash)
    await insertNamespace(user)
    if (body.provider !== undefined && body.extern_uid !== undefined) {
      await Identity.create({ userId: user.id, provider: body.provider, externUid: body.extern_uid })
    }
    await AccessToken.create({
      userId: user.id,
      kind: 'private',
      tokenHash: tokenHash(privateToken),
      encrypted: encrypt(privateToken)
    })
    await emitEvent(`user_create:${user.id}`, userPayload('user_create', user))
    const target = { type: 'user', id: user.id, name: user.username }
    await audit(origin, { action: 'user.create', target, changes: changesBetween(null, body) })
    return { id: user.id, privateToken }
  })
}

/** The private token of a user, which the database keeps encrypted. */
export async function revealPrivateToken(userId: number): Promise<string> {
  const box = await findPrivateToken(userId)
  if (!box) throw new Invalid('private_token', 'is missing')
  return decrypt(box)
}

function checkUser(body: UserBody): void {
  const errors: Record<string, string[]> = {}
  if (body.password.length < PASSWORD_MINIMUM) {
    errors.password = [`is too short (minimum is ${PASSWORD_MINIMUM} characters)`]
  }
  if (!isAddress(body.email)) errors.email = ['is invalid']
  if (body.name.trim() === '') errors.name = ["can't be blank"]
  const problem = pathProblem(body.username, 'namespace')
  if (problem) errors.username = [problem]
  if (Object.keys(errors).length > 0) throw new Invalid(errors)
  if ((body.provider === undefined) !== (body.extern_uid === undefined)) {
    // Not specified: the text for a pair of which one is missing.
    throw new BadParameters('extern_uid, provider must be given together')
  }
}

async function insertUser(body: UserBody, passwordHash: string): Promise<User> {
  // The address is looked at before the name, as the requirement orders the two conflicts.
  await checkAddressFree(body.email)
  try {
    return await User.create({
      username: body.username,
      name: body.name,
      email: body.email,
      passwordHash,
      admin: body.admin ?? false,
      external: body.external ?? false,
      bio: body.bio ?? null,
      location: body.location ?? null,
      messenger: body.messenger ?? '',
      professionalNetwork: body.professional_network ?? '',
      microblog: body.microblog ?? '',
      websiteUrl: body.website_url ?? '',
      organization: body.organization ?? '',
      projectsLimit: body.projects_limit ?? 10,
      canCreateGroup: body.can_create_group ?? true,
      // Without a mail address to confirm from, an administrator's word is the confirmation.
      confirmedAt: new Date()
    })
  } catch (error) {
    const key = duplicateKey(error)
    if (key === 'users_email') throw new Conflict('Email has already been taken')
    if (key === 'users_username') throw new Conflict('Username has already been taken')
    throw error
  }
}

async function insertNamespace(user: User): Promise<void> {
  try {
    await Namespace.create({ kind: 'user', ownerId: user.id, name: user.username, path: user.username })
  } catch (error) {
    if (duplicateKey(error)) throw new Conflict('Username has already been taken')
    throw error
  }
}
