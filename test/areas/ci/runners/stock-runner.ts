// Speaks as a stock runner: the exact requests, against the production application.
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { registrationToken } from '../../../../src/areas/ci/runners/registration-token.js'
import { row } from '../../../../src/db/connect/sql.js'
import { decrypt } from '../../../../src/secrets.js'
import type { TestApp } from '../../../helpers/app.js'

/** As runner 17 describes itself. */
export const INFO = {
  name: 'gitlab-runner',
  version: '17.5.0',
  revision: '6c0a8e4b',
  platform: 'linux',
  architecture: 'amd64',
  executor: 'shell',
  shell: 'bash',
  features: {
    ...{ variables: true, artifacts: true, refspecs: true, masking: true, trace_size: true },
    ...{ upload_multiple_artifacts: true, upload_raw_artifacts: true, artifacts_exclude: true }
  }
}

export interface Job {
  readonly id: number
  readonly token: string
  readonly [more: string]: unknown
}

type Send = (
  method: string,
  path: string,
  more?: Omit<InjectOptions, 'method' | 'url'>
) => Promise<LightMyRequestResponse>

/** Sends requests below /api/v4. */
export const speak =
  (app: TestApp): Send =>
  (method, path, more = {}) =>
    app.fastify.inject({
      ...more,
      method: method as 'GET',
      url: `/api/v4${path}`,
      headers: {
        accept: 'application/json',
        'user-agent': 'gitlab-runner 17.5.0 (17-5-stable; go1.22.7; linux/amd64)',
        ...more.headers
      }
    })

/** Registers a runner as the stock tool does. Without a token it is a shared one. */
export async function register(
  app: TestApp,
  token?: string,
  more: object = {}
): Promise<{ id: number; token: string }> {
  const answer = await speak(app)('POST', '/runners', {
    payload: {
      token: token ?? (await registrationToken()),
      description: 'a stock runner',
      info: INFO,
      locked: true,
      run_untagged: true,
      maximum_timeout: 0,
      paused: false,
      access_level: 'not_protected',
      tag_list: '',
      maintenance_note: '',
      ...more
    }
  })
  if (answer.statusCode !== 201) throw new Error(`${answer.statusCode} ${answer.body}`)
  return answer.json()
}

/** Asks for a job. `shown` is the value of the last answer without one. */
export const request = (app: TestApp, token: string, shown = '', system = 's_0123456789ab') =>
  speak(app)('POST', '/jobs/request', { payload: { info: INFO, token, system_id: system, last_update: shown } })

/** Asks for a job that must be there. */
export async function take(app: TestApp, token: string): Promise<Job> {
  const answer = await request(app, token)
  if (answer.statusCode !== 201) throw new Error(`${answer.statusCode} ${answer.body}`)
  return answer.json()
}

/** Sends a piece of the trace. */
export const patch = (app: TestApp, job: { id: number; token: string }, start: number, bytes: string | Buffer) =>
  speak(app)('PATCH', `/jobs/${job.id}/trace?debug_trace=false`, {
    headers: {
      'job-token': job.token,
      'content-type': 'text/plain',
      'content-range': `${start}-${start + Math.max(0, Buffer.byteLength(bytes) - 1)}`
    },
    payload: bytes
  })

/** Reports the state of a job. */
export const update = (app: TestApp, job: { id: number; token: string }, state: string, more: object = {}) =>
  speak(app)('PUT', `/jobs/${job.id}`, { payload: { token: job.token, info: INFO, state, ...more } })

/** The registration token of a project. */
export async function tokenOf(project: { id: number }): Promise<string> {
  const found = await row<{ box: Buffer }>('select runners_token_encrypted as box from projects where id = ?', [
    project.id
  ])
  return decrypt(found?.box ?? Buffer.alloc(0))
}
