// Uses the API like a client of the appliance.
import { Agent, request as httpRequest } from 'node:http'
import type { Prepared } from './appliance.js'

const agent = new Agent({ keepAlive: true })

/** Sends a request as the administrator and returns the parsed answer. Throws when the status is not 2xx. */
export function ask<T>(appliance: Prepared, method: string, path: string, body?: object): Promise<T> {
  const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
  const headers = {
    'private-token': appliance.admin.token,
    ...(payload ? { 'content-type': 'application/json', 'content-length': payload.length } : {})
  }
  return new Promise((resolve, reject) => {
    const call = httpRequest(
      { host: '127.0.0.1', port: appliance.port, method, path: `/api/v3${path}`, headers, agent },
      async answer => {
        const chunks: Buffer[] = []
        for await (const chunk of answer) chunks.push(chunk as Buffer)
        const text = Buffer.concat(chunks).toString()
        const { statusCode = 0 } = answer
        if (statusCode >= 200 && statusCode < 300) resolve(JSON.parse(text) as T)
        else reject(new Error(`${method} ${path}: ${statusCode} ${text.slice(0, 200)}`))
      }
    )
    call.once('error', reject)
    call.end(payload)
  })
}

export interface ProjectRecord {
  readonly id: number
  readonly path: string
  readonly path_with_namespace: string
}

export const createProject = (appliance: Prepared, name: string, more: object = {}) =>
  ask<ProjectRecord>(appliance, 'POST', '/projects', { name, ...more })

/** Commits one new file through the files API. */
export const commitFile = (appliance: Prepared, project: ProjectRecord, path: string, content: string) =>
  ask(appliance, 'POST', `/projects/${project.id}/repository/files`, {
    file_path: path,
    branch_name: 'master',
    content,
    commit_message: `Add ${path}`
  })
