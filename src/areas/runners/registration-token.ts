// The token of the instance, with which shared runners register, and that of a project, with which its own runners do. The
// first is a secret of administrators: the settings never show it.
import type { Origin } from '../../access/actor.js'
import { execute, row } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { decrypt, encrypt, newToken, tokenHash } from '../../secrets.js'
import { audit } from '../audit/audit.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import { settingsRecord } from '../settings/settings.queries.js'

/**
 * Returns the registration token, and makes it when there is none. A token that was encrypted with another key, as after
 * a restore, is replaced: nobody can read it any more.
 */
export function registrationToken(): Promise<string> {
  return transact(async () => {
    // Locks the row, so that two who ask first get the same token.
    await settingsRecord({ lock: true })
    const found = await row<{ box: Buffer | null }>(
      'select runners_token_encrypted as box from application_settings where id = 1'
    )
    return textOf(found?.box ?? null) ?? storeToken()
  })
}

/** Replaces the registration token. Runners that are registered stay. */
export function resetRegistrationToken(origin: Origin): Promise<string> {
  return transact(async () => {
    await settingsRecord({ lock: true })
    const target = { type: 'settings', id: 1, name: 'runner registration token' }
    await audit(origin, { action: 'runner.reset_registration_token', target })
    return storeToken()
  })
}

/** Tells whether this is the registration token of the instance. */
export const isRegistrationToken = async (token: string): Promise<boolean> =>
  (await row('select 1 from application_settings where id = 1 and runners_token_hash = ?', [tokenHash(token)])) !==
  undefined

async function storeToken(): Promise<string> {
  const token = newToken()
  await execute('update application_settings set runners_token_hash = ?, runners_token_encrypted = ? where id = 1', [
    tokenHash(token),
    encrypt(token)
  ])
  return token
}

/** Returns the token with which the runners of a project register. */
export const projectToken = async (project: ProjectRow): Promise<string> =>
  textOf(project.runners_token_encrypted) ?? storeProjectToken(project)

/** Replaces the registration token of a project. Runners that are registered stay. */
export function resetProjectToken(project: ProjectRow, origin: Origin): Promise<string> {
  return transact(async () => {
    const target = { type: 'project', id: project.id, name: `${project.namespace_path}/${project.path}` }
    await audit(origin, { action: 'runner.reset_registration_token', target })
    return storeProjectToken(project)
  })
}

async function storeProjectToken({ id }: ProjectRow): Promise<string> {
  const token = newToken()
  await execute('update projects set runners_token_hash = ?, runners_token_encrypted = ? where id = ?', [
    tokenHash(token),
    encrypt(token),
    id
  ])
  return token
}

function textOf(box: Buffer | null): string | undefined {
  if (!box) return undefined
  try {
    return decrypt(box)
  } catch {
    return undefined
  }
}
