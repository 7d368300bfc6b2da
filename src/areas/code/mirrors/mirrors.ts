// Mirrors of a project: one remote that it follows, and several that receive its branches.
import { type ActorUser, actorOf, type Origin } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { publicUrl } from '../../../config.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Invalid, NotFound } from '../../../errors.js'
import { decryptNamed, encrypt, newToken, tokenHash } from '../../../secrets.js'
import { shownUrl } from '../../../webhooks/url.js'
import { audit, changesBetween } from '../../ground/audit/audit.js'
import { countWrongToken } from '../../people/credentials/login-throttle.js'
import { findProject, type ProjectRow } from '../../projects/projects/projects.queries.js'
import { newKeyPair } from '../../projects/ssh/host-keys.js'
import { shownPatterns, storedPatterns } from './branch-patterns.js'
import { requestRun } from './mirror-runs.js'
import { type MirrorAddress, readAddress } from './mirror-url.js'
import { type Direction, findMirrorByToken, findPullMirror, type MirrorRow, requireMirror } from './mirrors.queries.js'
import { LEAST_INTERVAL, type MirrorBody } from './mirrors.schema.js'
import type { MirrorSecret } from './work.js'

/** The maximum number of push mirrors of a project: each push causes a run of each of them. */
const MOST_MIRRORS = 10
/** Minutes between two runs, unless the mirror says otherwise. */
const USUAL_INTERVAL = { pull: 60, push: 0 }
const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/

type ProjectOf = Pick<ProjectRow, 'id'>

/** A mirror, and the token of its hook when it was made just now. */
export interface SavedMirror {
  readonly mirror: MirrorRow
  readonly hookToken: string | null
}

export interface Wish extends MirrorBody {
  /** The user in whose name it runs; the default is the user who makes the change. */
  readonly owner?: ActorUser
}

/** Adds a mirror; the first run follows at once. Throws Invalid. */
export async function createMirror(
  project: ProjectOf,
  direction: Direction,
  wish: Wish,
  origin: Origin
): Promise<SavedMirror> {
  const user = wish.owner ?? origin.asker
  if (!user) throw new Invalid('owner', 'must be the user in whose name the mirror runs')
  await requireMaster(project.id, user)
  const next = merged(null, direction, wish)
  const hookToken = direction === 'pull' ? newToken() : null
  const now = new Date()
  const id = await transact(async () => {
    if (!(await lockRow('projects', project.id))) throw new NotFound('Project')
    await requireRoom(project.id, direction)
    const { insertId } = await execute(
      `insert into mirrors (project_id, user_id, direction, url, secret_encrypted, public_key, host_key, branch_patterns,
         overwrite_diverged, delete_removed, enabled, interval_minutes, hook_token_hash, created_at, updated_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [project.id, user.id, direction, ...valuesOf(next), hookToken && tokenHash(hookToken), now, now]
    )
    const after = { direction, ...shown(next), owner: user.username, ...(wish.password && { password: true }) }
    await audit(origin, {
      action: 'mirror.create',
      target: targetOf(insertId, next.url),
      changes: changesBetween(null, after)
    })
    await requestRun(insertId, 'at-once')
    return insertId
  })
  return { mirror: await requireMirror(id), hookToken }
}

/**
 * Changes a mirror, which from then on runs in the name of the user who changes it, and runs it at once. Another URL does not get the
 * password or the key pair of the old one. Throws Invalid.
 */
export async function updateMirror(mirror: MirrorRow, wish: Wish, origin: Origin): Promise<SavedMirror> {
  const user = wish.owner ?? origin.asker
  if (user) await requireMaster(mirror.project_id, user)
  const next = merged(mirror, mirror.direction, wish)
  const hookToken = mirror.direction === 'pull' && wish.new_hook_token ? newToken() : null
  await transact(async () => {
    const { affectedRows } = await execute(
      `update mirrors set url = ?, secret_encrypted = ?, public_key = ?, host_key = ?, branch_patterns = ?,
         overwrite_diverged = ?, delete_removed = ?, enabled = ?, interval_minutes = ?, user_id = ?,
         hook_token_hash = coalesce(?, hook_token_hash), failures = 0, due_at = if(enabled = 0, null, due_at), updated_at = ?
       where id = ?`,
      [...valuesOf(next), user?.id ?? mirror.user_id, hookToken && tokenHash(hookToken), new Date(), mirror.id]
    )
    if (affectedRows === 0) throw new NotFound('Mirror')
    const secrets = {
      ...(wish.password !== undefined && { password: true }),
      ...(hookToken !== null && { token: true })
    }
    const before = { ...shown(mirror), owner: mirror.username }
    const after = { ...shown(next), owner: user?.username ?? mirror.username, ...secrets }
    const changes = changesBetween(before, after)
    await audit(origin, { action: 'mirror.update', target: targetOf(mirror.id, next.url), changes })
    if (next.enabled) await requestRun(mirror.id, 'at-once')
  })
  return { mirror: await requireMirror(mirror.id), hookToken }
}

/** Removes a mirror; a running one ends soon. Returns the record. */
export async function deleteMirror(mirror: MirrorRow, origin: Origin): Promise<MirrorRow> {
  await transact(async () => {
    const { affectedRows } = await execute('delete from mirrors where id = ?', [mirror.id])
    if (affectedRows === 0) throw new NotFound('Mirror')
    await audit(origin, { action: 'mirror.delete', target: targetOf(mirror.id, mirror.url) })
  })
  return mirror
}

/** Runs a mirror now, or again after the present run. Throws Invalid for one that is switched off. */
export async function syncMirror(mirror: MirrorRow, origin: Origin): Promise<MirrorRow> {
  if (mirror.enabled === 0) throw new Invalid('base', 'The mirror is switched off')
  await transact(async () => {
    await requestRun(mirror.id, 'at-once')
    await audit(origin, { action: 'mirror.sync', target: targetOf(mirror.id, mirror.url) })
  })
  return requireMirror(mirror.id)
}

/** A hook of the remote says that something has changed there. Calls within some seconds share one run. Throws NotFound. */
export async function callHook(id: string, token: string, client: string): Promise<void> {
  const project = /^\d{1,10}$/.test(id) ? Number(id) : 0
  const mirror = await findMirrorByToken(project, token)
  if (!mirror) {
    countWrongToken(client)
    throw new NotFound()
  }
  await transact(() => requestRun(mirror.id, 'soon'))
}

/** The URL for hooks of the remote. */
export const hookUrl = ({ project_id: id }: MirrorRow): string =>
  `${publicUrl()}/api/v3/projects/${id}/mirror/pull/hook`

interface Attributes {
  readonly url: string
  readonly secret_encrypted: Buffer | null
  readonly public_key: string | null
  readonly host_key: string | null
  readonly branch_patterns: string | null
  readonly overwrite_diverged: boolean | number
  readonly delete_removed: boolean | number
  readonly enabled: boolean | number
  readonly interval_minutes: number | null
}

/** Returns the attributes after a change. Throws Invalid. */
function merged(mirror: MirrorRow | null, direction: Direction, wish: Wish): Attributes {
  if (wish.url === undefined && !mirror) throw new Invalid('url', "can't be blank")
  const address = readAddress(wish.url ?? mirror?.url ?? '')
  // Otherwise another master could lead the password, or the key, to a repository that only its owner may read.
  const same = mirror?.url === address.url ? mirror : null
  const sameServer = mirror !== null && readAddress(mirror.url).server === address.server ? mirror : null
  const interval = wish.interval ?? (mirror ? (mirror.interval_minutes ?? 0) : USUAL_INTERVAL[direction])
  if (interval !== 0 && interval < LEAST_INTERVAL)
    throw new Invalid('interval', `must be 0 or at least ${LEAST_INTERVAL}`)
  return {
    url: address.url,
    ...(address.kind === 'ssh' ? sshSecret(same) : httpSecret(same, address, wish)),
    host_key: hostKeyOf(sameServer, address, wish),
    branch_patterns:
      wish.branch_patterns === undefined ? (mirror?.branch_patterns ?? null) : storedPatterns(wish.branch_patterns),
    overwrite_diverged: wish.overwrite_diverged ?? mirror?.overwrite_diverged ?? false,
    delete_removed: direction === 'push' && (wish.delete_removed ?? mirror?.delete_removed ?? false),
    enabled: wish.enabled ?? mirror?.enabled ?? true,
    interval_minutes: interval === 0 ? null : interval
  }
}

/** A new URL gets a new key pair. */
function sshSecret(known: MirrorRow | null): Pick<Attributes, 'secret_encrypted' | 'public_key'> {
  if (known?.public_key) return { secret_encrypted: known.secret_encrypted, public_key: known.public_key }
  const { privateKey, publicKey } = newKeyPair()
  return { secret_encrypted: encrypt(JSON.stringify({ privateKey })), public_key: publicKey }
}

function httpSecret(known: MirrorRow | null, { username, password }: MirrorAddress, wish: Wish) {
  const { id = 0, secret_encrypted: box = null } = known ?? {}
  const old = (box === null ? {} : JSON.parse(decryptNamed(`mirror ${id}`, box))) as MirrorSecret
  const secret = {
    username: wish.username ?? (username || old.username || ''),
    password: wish.password ?? (password || old.password || '')
  }
  if (/[\r\n\0]/.test(secret.username + secret.password)) throw new Invalid('password', 'has a line end')
  const isEmpty = secret.username === '' && secret.password === ''
  return { secret_encrypted: isEmpty ? null : encrypt(JSON.stringify(secret)), public_key: null }
}

function hostKeyOf(known: MirrorRow | null, { kind }: MirrorAddress, { ssh_host_key: given }: Wish): string | null {
  if (kind === 'http') return null
  if (given === undefined || given === '') return known?.host_key ?? null
  if (!FINGERPRINT.test(given)) throw new Invalid('ssh_host_key', 'must be a fingerprint such as SHA256:...')
  return given
}

const valuesOf = (next: Attributes) =>
  [
    ...([next.url, next.secret_encrypted, next.public_key, next.host_key, next.branch_patterns] as const),
    ...([next.overwrite_diverged, next.delete_removed, next.enabled, next.interval_minutes] as const)
  ] as const

/** The attributes that the audit compares. */
const shown = (of: Attributes) => ({
  url: shownUrl(of.url),
  ssh_host_key: of.host_key,
  branch_patterns: shownPatterns(of.branch_patterns).join(' '),
  overwrite_diverged: Boolean(of.overwrite_diverged),
  delete_removed: Boolean(of.delete_removed),
  enabled: Boolean(of.enabled),
  interval: of.interval_minutes ?? 0
})

const targetOf = (id: number, url: string) => ({ type: 'mirror', id, name: shownUrl(url) })

/** Throws Invalid for a user in whose name the mirror could not run. */
async function requireMaster(projectId: number, user: ActorUser): Promise<void> {
  const actor = actorOf(user, 'private')
  const project = await findProject(projectId, actor)
  if (project && may(actor, 'mirror.administer', project)) return
  throw new Invalid('owner', 'must be an active user who is a master of the project')
}

async function requireRoom(projectId: number, direction: Direction): Promise<void> {
  if (direction === 'pull') {
    if (await findPullMirror(projectId)) throw new Invalid('base', 'The project already follows a remote')
    return
  }
  const found = await row<{ known: number }>(
    "select count(*) as known from mirrors where project_id = ? and direction = 'push'",
    [projectId]
  )
  if ((found?.known ?? 0) < MOST_MIRRORS) return
  throw new Invalid('base', `The project already has ${MOST_MIRRORS} push mirrors: remove one first`)
}
