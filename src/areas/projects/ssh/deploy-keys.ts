// Deploy keys give SSH access to the repositories of some projects, read-only or with pushes, without an account.
import type { Origin } from '../../../access/actor.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { execute, row, rows, type Value } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Invalid, NotFound, Taken } from '../../../errors.js'
import { lineProblem } from '../../../lib/text-line.js'
import { publish } from '../../ground/activity/events.js'
import { deployKeySnapshot } from '../../ground/activity/snapshots.js'
import { audit } from '../../ground/audit/audit.js'
import { isDeployKey } from '../../people/users/keys.queries.js'
import { readSshPublicKey, type SshPublicKey } from '../../people/users/ssh-public-key.js'
import {
  countDeployKeys,
  type DeployKeyRow,
  findAccessibleKey,
  findDeployKey,
  findDeployKeyLike,
  isKeyOfUser
} from './deploy-keys.queries.js'
import type { DeployKeyBody } from './deploy-keys.schema.js'

/** Not specified: the maximum number of keys of a project. There is a limit because their list has no pages. */
const MOST = 1000
const LONGEST_TITLE = 255

export interface DeployKeyLink {
  readonly id: number
  readonly deploy_key_id: number
  readonly project_id: number
  readonly created_at: Date
  readonly updated_at: Date
}

interface Project {
  readonly id: number
}

/**
 * Gives a project a key: one that it already has, one that the caller may use from another project, or a new one.
 * Throws Invalid, and Taken when a user has it, or only projects that the caller does not administer.
 */
export async function addDeployKey(project: Project, body: DeployKeyBody, origin: Origin): Promise<DeployKeyRow> {
  const { title, key } = await readBody(body)
  return transact(async () => {
    await lockProject(project)
    const own = await findDeployKeyLike(project.id, key.fingerprint)
    if (own) return own
    const known = () => findAccessibleKey({ fingerprint: key.fingerprint }, origin.asker)
    const wanted = { title, key, can_push: body.can_push === true, is_public: false }
    // Another request may create the key at the same time for another project.
    const found = (await known()) ?? (await createKey(wanted, origin)) ?? (await known())
    // Decided: the deploy key of a project that the caller does not administer.
    if (!found) throw new Taken('fingerprint')
    await linkKey(project, found, origin)
    return found
  })
}

/** Creates a key that every master of a project may enable there. For commands. Throws Invalid, and Taken for a key that exists. */
export async function addPublicKey(body: DeployKeyBody, origin: Origin): Promise<DeployKeyRow> {
  const { title, key } = await readBody(body)
  return transact(async () => {
    const made = await createKey({ title, key, can_push: body.can_push === true, is_public: true }, origin)
    if (!made) throw new Taken('fingerprint')
    return made
  })
}

/** Enables an existing key for a project. Throws NotFound when the caller may not use it, Invalid beyond the limit. */
export async function enableDeployKey(project: Project, id: number, origin: Origin): Promise<DeployKeyRow> {
  return transact(async () => {
    await lockProject(project)
    const own = await findDeployKey(project.id, id)
    if (own) return own
    const found = await findAccessibleKey({ id }, origin.asker)
    if (!found) throw new NotFound('Deploy Key')
    await linkKey(project, found, origin)
    return found
  })
}

/** Removes a key from a project, and deletes a private key without any other project. Throws NotFound. */
export async function removeDeployKey(
  project: Project,
  id: number,
  origin: Origin
): Promise<{ key: DeployKeyRow; link: DeployKeyLink }> {
  return transact(async () => {
    const key = await findDeployKey(project.id, id)
    const link = await row<DeployKeyLink>(
      `select id, deploy_key_id, project_id, created_at, updated_at from deploy_key_projects
       where deploy_key_id = ? and project_id = ? for update`,
      [id, project.id]
    )
    if (!key || !link) throw new NotFound('Deploy Key')
    await execute('delete from deploy_key_projects where id = ?', [link.id])
    await audit(origin, {
      action: 'deploy_key.disable',
      target: targetOf(key),
      changes: changesOf('before', key, project)
    })
    await dropUnused(key, origin)
    return { key, link }
  })
}

/** Removes a key from all projects. For commands. Returns false when it was already deleted. */
export async function deleteDeployKey(key: DeployKeyRow, origin: Origin): Promise<boolean> {
  return transact(async () => {
    await execute('delete from deploy_key_projects where deploy_key_id = ?', [key.id])
    return deleteKey(key, origin)
  })
}

/** Deletes private keys without a project, because their projects were removed. */
export async function removeUnusedKeys(origin: Origin): Promise<void> {
  const unused = await rows<DeployKeyRow>(
    `select k.* from deploy_keys k left join deploy_key_projects l on l.deploy_key_id = k.id
     where l.id is null and not k.is_public`
  )
  for (const key of unused) await transact(() => dropUnused(key, origin))
}

async function dropUnused(key: DeployKeyRow, origin: Origin): Promise<void> {
  if (key.is_public) return
  if (await row('select 1 as found from deploy_key_projects where deploy_key_id = ? limit 1 for update', [key.id]))
    return
  await deleteKey(key, origin)
}

async function deleteKey(key: DeployKeyRow, origin: Origin): Promise<boolean> {
  const { affectedRows } = await execute('delete from deploy_keys where id = ?', [key.id])
  // A concurrent request was faster and published the event.
  if (affectedRows === 0) return false
  await publish({ kind: 'deploy_key.deleted', key: deployKeySnapshot(key) })
  await audit(origin, { action: 'deploy_key.delete', target: targetOf(key), changes: changesOf('before', key) })
  return true
}

interface NewKey {
  readonly title: string
  readonly key: SshPublicKey
  readonly can_push: boolean
  readonly is_public: boolean
}

/** Returns null when the key is already a deploy key. Throws Taken when a user has it. */
async function createKey({ title, key, can_push, is_public }: NewKey, origin: Origin): Promise<DeployKeyRow | null> {
  // A key opens either one account or some projects: its holder could not know which.
  if (await isKeyOfUser(key.fingerprint)) throw new Taken('fingerprint')
  if (await isDeployKey(key.fingerprint)) return null
  const now = new Date()
  const user_id = origin.asker?.id ?? null
  const id = await insertKey([user_id, title, key.text, key.fingerprint, key.fingerprint, can_push, is_public, now])
  if (id === null) return null
  const made: DeployKeyRow = {
    id,
    user_id,
    title,
    public_key: key.text,
    fingerprint: key.fingerprint,
    can_push: can_push ? 1 : 0,
    is_public: is_public ? 1 : 0,
    created_at: now,
    last_used_at: null
  }
  await publish({ kind: 'deploy_key.created', key: deployKeySnapshot(made) })
  await audit(origin, { action: 'deploy_key.create', target: targetOf(made), changes: changesOf('after', made) })
  return made
}

/** Returns the id; null when a concurrent request inserted the same key. */
async function insertKey(values: readonly Value[]): Promise<number | null> {
  try {
    const { insertId } = await execute(
      `insert into deploy_keys (user_id, title, public_key, fingerprint, sole_fingerprint, can_push, is_public, created_at)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
      values
    )
    return insertId
  } catch (error) {
    if (duplicateKey(error)) return null
    throw error
  }
}

async function linkKey(project: Project, key: DeployKeyRow, origin: Origin): Promise<void> {
  if ((await countDeployKeys(project.id)) >= MOST) throw new Invalid('key', `is one too many (maximum is ${MOST})`)
  // The lock keeps the key until the link exists.
  if (!(await row('select id from deploy_keys where id = ? lock in share mode', [key.id])))
    throw new NotFound('Deploy Key')
  const now = new Date()
  await execute(
    'insert into deploy_key_projects (deploy_key_id, project_id, created_at, updated_at) values (?, ?, ?, ?)',
    [key.id, project.id, now, now]
  )
  await audit(origin, { action: 'deploy_key.enable', target: targetOf(key), changes: changesOf('after', key, project) })
}

/** Concurrent requests with the same key take turns. Throws NotFound when the project no longer exists. */
async function lockProject({ id }: Project): Promise<void> {
  if (!(await lockRow('projects', id))) throw new NotFound('Project')
}

/** Throws Invalid with the errors of both attributes. */
async function readBody(body: DeployKeyBody): Promise<{ title: string; key: SshPublicKey }> {
  const errors: Record<string, string[]> = {}
  const key = await readSshPublicKey(body.key ?? '').catch(error => {
    if (!(error instanceof Invalid)) throw error
    Object.assign(errors, error.errors)
    return undefined
  })
  const title = (body.title ?? '').trim()
  const problem = titleProblem(title)
  if (problem !== undefined) errors.title = [problem]
  if (!key || problem !== undefined) throw new Invalid(errors)
  return { title, key }
}

function titleProblem(title: string): string | undefined {
  if (title === '') return "can't be blank"
  if (title.length > LONGEST_TITLE) return `is too long (maximum is ${LONGEST_TITLE} characters)`
  return lineProblem(title) ?? undefined
}

const targetOf = ({ id, title }: DeployKeyRow) => ({ type: 'deploy_key', id, name: title })

const changesOf = (when: 'before' | 'after', key: DeployKeyRow, project?: Project) => ({
  fingerprint: { [when]: `SHA256:${key.fingerprint}` },
  can_push: { [when]: key.can_push === 1 },
  ...(project && { project_id: { [when]: project.id } })
})
