// Clients that read, write issues and push, as fast as they are answered, and count every failure.
import { mkdirSync } from 'node:fs'
import { until } from '../helpers/until.js'
import { askApi, git, remoteUrl } from '../scenarios/client.js'

interface Result {
  /** The number of issues, and the commit of the branch. */
  readonly issues: number
  readonly tip: string
}

export interface Load {
  /** Waits until every client has done its work so many times more. */
  more(times: number): Promise<void>
  end(): Promise<{ failures: readonly string[]; acknowledged: Result; found: Result }>
}

export async function startLoad(folder: string, url: string, token: string): Promise<Load> {
  const api = { url, token }
  const ask = async (method: string, path: string, status: number, body?: unknown) => {
    const answer = await askApi<{ id: number }>(api, method, path, body)
    if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.status} ${answer.bytes}`)
    return answer
  }
  const { id } = (await ask('POST', '/projects', 201, { name: 'load' })).json
  const issues = `/projects/${id}/issues`
  const remote = remoteUrl(url, 'root/load', 'root', token)
  mkdirSync(folder)
  await git(folder, ['init', '-q', '-b', 'master'])

  const failures: string[] = []
  let working = true
  const jobs = {
    read: () => ask('GET', issues, 200),
    write: () => ask('POST', issues, 201, { title: 'an issue' }),
    push: async () => {
      await git(folder, ['commit', '-q', '--allow-empty', '-m', 'another'])
      await git(folder, ['push', '-q', remote, 'master'])
    },
    fetch: () => git(folder, ['ls-remote', remote])
  }
  const kinds = Object.keys(jobs) as (keyof typeof jobs)[]
  const counts = { read: 0, write: 0, push: 0, fetch: 0 }
  const clients = kinds.map(async kind => {
    while (working) {
      await jobs[kind]().then(
        () => {
          counts[kind] += 1
        },
        error => failures.push(`${kind}: ${error} ${error.cause ?? ''}`)
      )
    }
  })
  return {
    more: async times => {
      const before = { ...counts }
      const done = () => failures.length > 0 || kinds.every(kind => counts[kind] >= before[kind] + times)
      await until('every client has worked', done)
    },
    end: async () => {
      working = false
      await Promise.all(clients)
      const { headers } = await ask('GET', issues, 200)
      return {
        failures,
        acknowledged: { issues: counts.write, tip: await git(folder, ['rev-parse', 'HEAD']) },
        found: {
          issues: Number(headers.get('x-total')),
          tip: (await git(folder, ['ls-remote', remote, 'refs/heads/master'])).slice(0, 40)
        }
      }
    }
  }
}
