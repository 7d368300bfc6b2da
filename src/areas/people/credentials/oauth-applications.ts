// Applications that request access on behalf of users. Administrators register them for the instance, and users
// register their own if user_oauth_applications allows it.
import { randomBytes } from 'node:crypto'
import type { Origin } from '../../../access/actor.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { deleteRows } from '../../../db/ownership/owned-rows.js'
import { Forbidden, Invalid, NotFound } from '../../../errors.js'
import { redirectUriProblem } from '../../../lib/redirect-uri.js'
import { lineProblem } from '../../../lib/text-line.js'
import { tokenHash } from '../../../secrets.js'
import { audit } from '../../ground/audit/audit.js'
import { applicationSettings } from '../../ground/settings/settings.queries.js'
import { holdUserAlone } from '../users/users.queries.js'
import { APPLICATION_RECORD, type ApplicationRow, requireApplication } from './oauth-applications.queries.js'
import type { ApplicationBody } from './oauth-applications.schema.js'

/** Not specified: the maximum number of URIs of an application and of applications of a user. */
const MOST_URIS = 20
export const MOST_APPLICATIONS = 100

/** Registers an application of the instance. The caller can show the secret only now. Throws Invalid for a bad name or redirect URI. */
export async function createApplication(
  { name, redirect_uri, scopes = ['api'], confidential = true }: ApplicationBody,
  origin: Origin,
  ownerId: number | null = null
): Promise<{ row: ApplicationRow; secret: string }> {
  const problem = lineProblem(name)
  if (problem) throw new Invalid('name', problem)
  const uris = readUris(redirect_uri)
  const [uid, secret] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')]
  const wanted = [...new Set(scopes)].join(' ')
  const row = await transact(async () => {
    const now = new Date()
    const { insertId } = await execute(
      `insert into oauth_applications (uid, secret_hash, name, redirect_uris, scopes, confidential, user_id, created_at,
         updated_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [uid, tokenHash(secret), name, uris.join('\n'), wanted, confidential, ownerId, now, now]
    )
    const made = await requireApplication(insertId)
    await audit(origin, { action: 'application.create', target: targetOf(made), changes: recordOf(made, 'after') })
    return made
  })
  return { row, secret }
}

/** Registers an application of a user. Throws Forbidden when the settings do not allow it, and Invalid. */
export async function createOwnApplication(
  owner: { id: number; admin: boolean },
  body: ApplicationBody,
  origin: Origin
) {
  const { user_oauth_applications: allowed } = await applicationSettings()
  if (!allowed && !owner.admin) throw new Forbidden('Only administrators may register applications')
  return transact(async () => {
    await holdUserAlone(owner.id)
    const sql = 'select count(*) as total from oauth_applications where user_id = ?'
    if (Number((await row<{ total: number }>(sql, [owner.id]))?.total) >= MOST_APPLICATIONS) {
      throw new Invalid('name', `is one too many (a user has at most ${MOST_APPLICATIONS} applications)`)
    }
    return createApplication(body, origin, owner.id)
  })
}

/** Deletes an application: its codes and tokens stop working. With `ownerId`, only an application of this user. Throws NotFound. */
export function deleteApplication(id: number, origin: Origin, ownerId?: number): Promise<ApplicationRow> {
  return transact(async () => {
    const found = await requireApplication(id)
    if (ownerId !== undefined && found.user_id !== ownerId) throw new NotFound(APPLICATION_RECORD)
    await deleteRows('oauth_applications', [id])
    await audit(origin, { action: 'application.delete', target: targetOf(found), changes: recordOf(found, 'before') })
    return found
  })
}

export const targetOf = ({ id, name }: { id: number; name: string }) => ({ type: 'application', id, name })

const recordOf = (row: ApplicationRow, when: 'before' | 'after') => ({
  redirect_uri: { [when]: row.redirect_uris },
  scopes: { [when]: row.scopes },
  confidential: { [when]: row.confidential === 1 },
  user: { [when]: row.username }
})

function readUris(text: string): string[] {
  const uris = [...new Set(text.split(/\s+/).filter(uri => uri !== ''))]
  if (uris.length === 0) throw new Invalid('redirect_uri', "can't be blank")
  if (uris.length > MOST_URIS) throw new Invalid('redirect_uri', `has too many URIs (maximum is ${MOST_URIS})`)
  const problem = uris.map(redirectUriProblem).find(found => found !== null)
  if (problem) throw new Invalid('redirect_uri', problem)
  return uris
}
