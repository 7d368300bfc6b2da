// A directory: it sends requests of SCIM with a token of its own.
import { createScimToken } from '../../../../src/areas/people/scim/scim-tokens.js'
import { loadConfig } from '../../../../src/config.js'
import { rows } from '../../../../src/db/connect/sql.js'
import type { TestApp } from '../../../helpers/app.js'
import { testDatabase } from '../../../helpers/database.js'
import { someOrigin } from '../../../helpers/factory.js'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

/** Reads a configuration that maps groups of the directory, for the tests of this file. */
export async function withMembers(t: { teardown(fn: () => void): void }, members: string[]): Promise<void> {
  await testDatabase()
  loadConfig({ port: 0, identity: { scim: { members } } })
  t.teardown(() => void loadConfig({ port: 0 }))
}

/** Returns a function that sends a request below /scim/v2, and returns the status, the body and the headers of the answer. */
export async function directory(app: TestApp, name = 'okta') {
  const { token } = await createScimToken({ name }, someOrigin)
  return async (method: Method, path: string, payload?: object, headers: Record<string, string> = {}) => {
    const answer = await app.nobody.inject({
      method,
      url: `/scim/v2${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(payload && { 'content-type': 'application/scim+json' }),
        ...headers
      },
      ...(payload && { payload: JSON.stringify(payload) })
    })
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: (answer.body === '' ? {} : answer.json()) as Record<string, unknown> & { id: string }
    }
  }
}

export type Ask = Awaited<ReturnType<typeof directory>>

/** Changes a resource by operations. */
export const patch = (ask: Ask, path: string, ...Operations: object[]) =>
  ask('PATCH', path, { schemas: [PATCH], Operations })

/** Returns the actions of the audit of a user, oldest first. */
export const auditOf = async (type: string, id: number | string) =>
  (
    await rows<{ action: string; via: string; actor_name: string }>(
      'select action, via, actor_name from audit_events where target_type = ? and target_id = ? order by id',
      [type, String(id)]
    )
  ).map(({ action, via, actor_name }) => `${actor_name} ${via} ${action}`)
