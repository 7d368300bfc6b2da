// Changes a user. Only administrators may make these changes, except for those of OwnProfile (users.schema.ts).
import { randomUUID } from 'node:crypto'
import type { Origin } from '../../../access/actor.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { replaceTrigrams, USER_TEXTS } from '../../../db/lists/trigrams.js'
import { Namespace, User } from '../../../db/models/index.js'
import { BadParameters, Conflict, NotFound, UpdateConflict } from '../../../errors.js'
import { hashPassword } from '../../../lib/password-hash.js'
import { tokenHash } from '../../../secrets.js'
import { doerOf } from '../../ground/activity/authors.js'
import { publish, publishAll } from '../../ground/activity/events.js'
import { personalProjects } from '../../ground/activity/project-snapshots.js'
import { audit, changesBetween } from '../../ground/audit/audit.js'
import { redirectNamespace, takeNamespacePaths } from '../../ground/paths/redirects.js'
import { checkAddressFree } from './emails.js'
import { refuseGhost } from './ghost/ghost.js'
import { forgetRights, setIdentity } from './identities.js'
import { requireOtherAdmin } from './last-admin.js'
import { checkChosenPassword, checksGivenPasswords, hasLocalPassword } from './password-rules.js'
import { checkUser } from './user-rules.js'
import { takenBy } from './users.js'
import { UserChange } from './users.schema.js'

/** Attribute -> column, for the attributes that have a column. */
const COLUMNS = {
  email: 'email',
  username: 'username',
  name: 'name',
  messenger: 'messenger',
  professional_network: 'professionalNetwork',
  microblog: 'microblog',
  website_url: 'websiteUrl',
  organization: 'organization',
  projects_limit: 'projectsLimit',
  bio: 'bio',
  location: 'location',
  admin: 'admin',
  can_create_group: 'canCreateGroup',
  external: 'external'
} as const satisfies { [Name in keyof UserChange]: keyof User }

type Attribute = keyof typeof COLUMNS
type Values = { [Name in Attribute]?: unknown }

/**
 * Changes the given attributes of a user. A new username moves the user's projects to it; a new password ends the
 * user's sessions. Rights that a provider decides are not given by hand (identities.ts). Throws NotFound, UpdateConflict when an address, name or identity is taken, Forbidden when no
 * administrator would be left, Invalid and BadParameters. Returns whether anything changed.
 */
export async function updateUser(
  id: number,
  change: UserChange,
  origin: Origin,
  rightsBy: 'hand' | 'provider' = 'hand'
): Promise<boolean> {
  requireAny(change)
  checkUser(change)
  const passwordHash = change.password === undefined ? null : await hashGiven(id, change.password, change)
  try {
    return await transact(() => update(id, change, { passwordHash, rightsBy }, origin))
  } catch (error) {
    const taken = takenBy(error)
    throw taken instanceof Conflict ? new UpdateConflict(taken.message) : error
  }
}

async function hashGiven(id: number, password: string, change: UserChange): Promise<string> {
  if (!checksGivenPasswords()) return hashPassword(password)
  const user = await User.findByPk(id)
  if (!user) throw new NotFound('User')
  const { username = user.username, name = user.name, email = user.email } = change
  await checkChosenPassword(password, { username, name, email })
  return hashPassword(password)
}

function requireAny(change: UserChange): void {
  const names = Object.keys(UserChange.properties) as (keyof UserChange)[]
  if (names.some(name => change[name] !== undefined)) return
  throw new BadParameters(`${names.join(', ')} are missing, at least one parameter must be provided`)
}

const SEARCHED = ['name', 'username', 'email'] as const

async function update(
  id: number,
  change: UserChange,
  { passwordHash, rightsBy }: { readonly passwordHash: string | null; readonly rightsBy: 'hand' | 'provider' },
  origin: Origin
): Promise<boolean> {
  const user = await User.findByPk(id, { lock: true })
  if (!user) throw new NotFound('User')
  refuseGhost(user)
  if (change.admin === false && user.admin) await requireOtherAdmin(id, 'demoted')
  const { email, username } = change
  // The configuration names administrators who may use a password.
  if (user.admin && username !== undefined && !hasLocalPassword(username)) await requireOtherAdmin(id, 'renamed')
  const taken = email === undefined ? undefined : await takeAddress(user, email)
  const target = { type: 'user', id, name: user.username }
  const [before, after] = [valuesOf(user, change), newValues(change)]
  if (username !== undefined && username !== user.username) await moveNamespace(user, username, origin)
  const old = user.email
  await user.update({
    ...columnsOf(after),
    ...(rightsBy === 'hand' && byHand(change)),
    ...(taken && { emailConfirmedAt: taken.confirmedAt }),
    ...(passwordHash !== null && { passwordHash })
  })
  if (SEARCHED.some(name => change[name] !== undefined)) {
    await replaceTrigrams(USER_TEXTS, { id, texts: SEARCHED.map(name => user[name]) })
  }
  if (rightsBy === 'hand') await forgetRights(id, change)
  const identity = await setIdentity(id, change)
  const changes = { ...changesBetween(before, after), ...identity }
  if (Object.keys(changes).length > 0) await audit(origin, { action: 'user.update', target, changes })
  const by = doerOf(origin, id)
  if (email !== undefined && email.toLowerCase() !== old.toLowerCase()) {
    const confirmed = taken?.confirmedAt != null
    await publish({ kind: 'email.changed', userId: id, before: old, after: email, confirmed, by })
  }
  if (passwordHash !== null) await endSessions(user, origin)
  return passwordHash !== null || Object.keys(changes).length > 0
}

/**
 * Writes a new password of a user, and ends the user's sessions, except for the one of the cookie `kept`. Call it inside
 * `transact`. Throws NotFound.
 */
export async function setPassword(id: number, passwordHash: string, origin: Origin, kept?: string): Promise<void> {
  const user = await User.findByPk(id, { lock: true })
  if (!user) throw new NotFound('User')
  await user.update({ passwordHash })
  await endSessions(user, origin, kept)
}

/** The effects of a new password. */
async function endSessions({ id, username }: User, origin: Origin, kept?: string): Promise<void> {
  const others = kept === undefined ? '' : ' and id <> ?'
  await execute(`delete from sessions where user_id = ?${others}`, kept === undefined ? [id] : [id, tokenHash(kept)])
  await publish({ kind: 'password.changed', userId: id, by: doerOf(origin, id) })
  await audit(origin, {
    action: 'user.password',
    target: { type: 'user', id, name: username },
    changes: { password: {} }
  })
}

/**
 * Makes an address the primary one, and removes it from the user's secondary addresses. Returns when the user confirmed
 * it. Not specified: a new address must be confirmed before it receives notifications; the user may sign in anyway.
 */
async function takeAddress(user: User, email: string): Promise<{ readonly confirmedAt: Date | null }> {
  const values = [user.id, email]
  const further = await row<{ confirmed_at: Date | null }>(
    'select confirmed_at from emails where user_id = ? and email_key = lower(?) for update',
    values
  )
  await execute('delete from emails where user_id = ? and email_key = lower(?)', values)
  await checkAddressFree(email, user.id)
  if (email.toLowerCase() === user.email.toLowerCase()) return { confirmedAt: user.emailConfirmedAt }
  return { confirmedAt: further?.confirmed_at ?? null }
}

const ATTRIBUTES = Object.keys(COLUMNS) as Attribute[]

const newValues = (change: UserChange): Values =>
  Object.fromEntries(ATTRIBUTES.filter(name => change[name] !== undefined).map(name => [name, change[name]]))

const valuesOf = (user: User, change: UserChange): Values =>
  Object.fromEntries(ATTRIBUTES.filter(name => change[name] !== undefined).map(name => [name, user.get(COLUMNS[name])]))

const columnsOf = (values: Values) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [COLUMNS[name as Attribute], value]))

const byHand = ({ admin, external }: UserChange) => ({
  ...(admin !== undefined && { adminByHand: admin }),
  ...(external !== undefined && { externalByHand: external })
})

/**
 * Renames the namespace of a user. Not specified: whether hooks receive this. A receiver that identifies projects by
 * their paths needs it, so each project gets a `project_rename` event.
 */
async function moveNamespace(user: User, username: string, origin: Origin): Promise<void> {
  const old = await personalProjects(user.id)
  const namespace = await Namespace.findOne({ where: { kind: 'user', ownerId: user.id } })
  const move = { id: randomUUID(), before: namespace?.path ?? username, path: username }
  if (namespace) {
    const before = namespace.path
    await namespace.update({ path: username, name: username })
    await takeNamespacePaths([username], { attribute: 'username', namespaceId: namespace.id, userId: user.id })
    if (before.toLowerCase() !== username.toLowerCase()) await redirectNamespace(before, namespace.id)
  }
  await publishAll(
    old.map(project => ({
      kind: 'project.renamed',
      project: { ...project, path_with_namespace: `${username}/${project.path}` },
      old_path_with_namespace: project.path_with_namespace,
      by: doerOf(origin),
      moved: move
    }))
  )
}
