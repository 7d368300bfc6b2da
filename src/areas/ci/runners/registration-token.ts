// The tokens with which runners register: shared runners with the token of the instance, project runners with the token
// of their project. The token of the instance is a secret of administrators: the settings never show it.
import type { Origin } from '../../../access/actor.js'
import { row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { decrypt, tokenHash } from '../../../secrets.js'
import { audit } from '../../ground/audit/audit.js'
import { replaceSharedRunnersToken } from '../../ground/settings/instance-secrets.js'
import { settingsRecord } from '../../ground/settings/settings.queries.js'
import { replaceRunnersToken } from '../../projects/projects/project-columns.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'

/**
 * Returns the registration token, and creates a missing one. A token that was encrypted with a different key, as after
 * a restore, is replaced, because nobody can read it.
 */
export function registrationToken(): Promise<string> {
  return transact(async () => {
    // Locks the row, so that two concurrent first calls get the same token.
    await settingsRecord({ lock: true })
    const found = await row<{ box: Buffer | null }>(
      'select runners_token_encrypted as box from application_settings where id = 1'
    )
    return textOf(found?.box ?? null) ?? replaceSharedRunnersToken()
  })
}

/** Replaces the registration token. Registered runners stay. */
export function resetRegistrationToken(origin: Origin): Promise<string> {
  return transact(async () => {
    await settingsRecord({ lock: true })
    const target = { type: 'settings', id: 1, name: 'runner registration token' }
    await audit(origin, { action: 'runner.reset_registration_token', target })
    return replaceSharedRunnersToken()
  })
}

/** Returns whether this is the registration token of the instance. */
export const isRegistrationToken = async (token: string): Promise<boolean> =>
  (await row('select 1 from application_settings where id = 1 and runners_token_hash = ?', [tokenHash(token)])) !==
  undefined

/** Returns the token with which the runners of a project register. */
export async function projectToken({ id }: ProjectRow): Promise<string> {
  const found = await row<{ box: Buffer }>('select runners_token_encrypted as box from projects where id = ?', [id])
  return textOf(found?.box ?? null) ?? replaceRunnersToken(id)
}

/** Replaces the registration token of a project. Registered runners stay. */
export function resetProjectToken(project: ProjectRow, origin: Origin): Promise<string> {
  return transact(async () => {
    const target = { type: 'project', id: project.id, name: `${project.namespace_path}/${project.path}` }
    await audit(origin, { action: 'runner.reset_registration_token', target })
    return replaceRunnersToken(project.id)
  })
}

function textOf(box: Buffer | null): string | undefined {
  if (!box) return undefined
  try {
    return decrypt(box)
  } catch {
    return undefined
  }
}
