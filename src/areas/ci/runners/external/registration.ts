// External runners register with the token of the instance or of a project, and then use their own token.
import type { Origin } from '../../../../access/actor.js'
import { lockRow } from '../../../../db/connect/lock-row.js'
import { execute, row } from '../../../../db/connect/sql.js'
import { transact } from '../../../../db/connect/transact.js'
import { Forbidden, Invalid } from '../../../../errors.js'
import { encrypt, newToken, tokenHash } from '../../../../secrets.js'
import { audit } from '../../../ground/audit/audit.js'
import { noteRunnerChange } from '../changes.js'
import { isRegistrationToken } from '../registration-token.js'
import { cleanTags, requireWork } from '../runner-tags.js'
import { removeRunner, requireRoom } from '../runners.js'
import { findRunnerByToken, type OutsideRunner } from '../runners.queries.js'
import { factsOf } from './contact.js'
import { WrongToken } from './wrong-token.js'

const LONGEST_DESCRIPTION = 255

/** A runner's description of itself. `tag_list` is text with commas, or a list. */
export interface Registration {
  readonly description?: string
  readonly tag_list?: unknown
  readonly run_untagged?: boolean
  readonly locked?: boolean
  readonly active?: boolean
  readonly paused?: boolean
  readonly maximum_timeout?: number
  readonly access_level?: string
  readonly info?: unknown
}

export interface Registered {
  readonly id: number
  /** The authentication token of the runner. */
  readonly token: string
}

/**
 * Registers a runner: a shared runner with the token of the instance, a project runner with the token of the project.
 * Throws Forbidden for any other token, and Invalid.
 */
export const registerRunner = async (token: string, wanted: Registration, origin: Origin): Promise<Registered> =>
  addRunner(await projectOf(token), wanted, { origin, contactedAt: new Date() })

/** Adds a runner that will connect later with the returned token: a project runner, or with null a shared one. Throws Invalid. */
export const announceRunner = (projectId: number | null, wanted: Registration, origin: Origin): Promise<Registered> =>
  addRunner(projectId, wanted, { origin, contactedAt: null })

async function addRunner(
  projectId: number | null,
  wanted: Registration,
  { origin, contactedAt }: { readonly origin: Origin; readonly contactedAt: Date | null }
): Promise<Registered> {
  const values = valuesOf(wanted)
  const made = newToken()
  return transact(async () => {
    // The lock keeps the project, and makes concurrent registrations count one after another.
    const held = projectId === null ? lockRow('application_settings', 1) : lockRow('projects', projectId)
    if (!(await held)) throw new Forbidden()
    await requireRoom(projectId)
    const now = new Date()
    const { insertId: id } = await execute(
      `insert into runners (token_hash, token_encrypted, description, active, is_shared, run_untagged, locked, ref_protected, tag_list,
         maximum_timeout, name, version, revision, platform, architecture, contacted_at, created_at, updated_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        tokenHash(made),
        encrypt(made),
        values.description,
        values.active,
        projectId === null,
        values.runUntagged,
        // Not specified: stock runners send `locked` by default. A shared runner serves all projects.
        projectId !== null && values.locked,
        values.refProtected,
        JSON.stringify(values.tags),
        values.maximumTimeout,
        ...values.facts,
        contactedAt,
        now,
        now
      ]
    )
    if (projectId !== null) {
      await execute('insert into runner_projects (runner_id, project_id) values (?, ?)', [id, projectId])
    }
    const target = { type: 'runner', id, name: values.description }
    await audit(origin, { action: 'runner.register', target, changes: { project_id: { after: projectId } } })
    noteRunnerChange()
    return { id, token: made }
  })
}

/** Finds the runner of a token. Throws WrongToken. */
export async function requireRunner(token: string | undefined): Promise<OutsideRunner> {
  const found = token === undefined || token === '' ? undefined : await findRunnerByToken(token)
  if (!found) throw new WrongToken()
  return found
}

/** Removes the runner of a token. Its running builds can finish. Throws Forbidden. */
export async function unregisterRunner(token: string | undefined, origin: Origin): Promise<void> {
  await removeRunner(await requireRunner(token), origin)
}

/** Replaces the authentication token of a runner and returns the new one. Its running builds can finish. Throws Forbidden. */
export async function resetRunnerToken(token: string | undefined, origin: Origin): Promise<Registered> {
  const runner = await requireRunner(token)
  const made = newToken()
  await transact(async () => {
    const { affectedRows } = await execute(
      'update runners set token_hash = ?, token_encrypted = ?, updated_at = ? where id = ? and token_hash = ?',
      [tokenHash(made), encrypt(made), new Date(), runner.id, tokenHash(token ?? '')]
    )
    // Another reset was faster.
    if (affectedRows === 0) throw new Forbidden()
    await audit(origin, {
      action: 'runner.reset_token',
      target: { type: 'runner', id: runner.id, name: runner.description }
    })
    noteRunnerChange()
  })
  return { id: runner.id, token: made }
}

/** Returns the project of a registration token; null for the token of the instance. */
async function projectOf(token: string): Promise<number | null> {
  const project = await row<{ id: number }>('select id from projects where runners_token_hash = ?', [tokenHash(token)])
  if (project) return project.id
  if (await isRegistrationToken(token)) return null
  throw new WrongToken()
}

function valuesOf(wanted: Registration) {
  const { description = '', maximum_timeout: timeout, access_level: level } = wanted
  if (description.length > LONGEST_DESCRIPTION) {
    throw new Invalid('description', `is too long (maximum is ${LONGEST_DESCRIPTION} characters)`)
  }
  if (timeout !== undefined && timeout < 0) throw new Invalid('maximum_timeout', 'must be greater than or equal to 0')
  if (level && level !== 'not_protected' && level !== 'ref_protected') {
    throw new Invalid('access_level', 'must be not_protected or ref_protected')
  }
  const tags = cleanTags(tagsIn(wanted.tag_list))
  const runUntagged = wanted.run_untagged ?? true
  requireWork(tags, runUntagged)
  return {
    description,
    tags,
    runUntagged,
    locked: wanted.locked ?? false,
    refProtected: level === 'ref_protected',
    active: wanted.paused === undefined ? (wanted.active ?? true) : !wanted.paused,
    // Stock runners send 0 for "no limit".
    maximumTimeout: timeout === undefined || timeout === 0 ? null : Math.min(timeout, 2 ** 31),
    facts: factsOf(wanted.info)
  }
}

function tagsIn(tags: unknown): string[] {
  if (tags === undefined || tags === null) return []
  if (typeof tags === 'string') return tags.split(',')
  if (Array.isArray(tags) && tags.every(tag => typeof tag === 'string')) return tags
  throw new Invalid('tag_list')
}
