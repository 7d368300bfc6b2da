// Servers that get their listening sockets from a service manager, and replace each other while clients work. A shell plays the
// service manager: like systemd, it keeps the sockets open.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { rows } from '../../src/db/connect/sql.js'
import { inheritedSockets, passedOn } from '../../src/listening.js'
import { testDatabase } from '../helpers/database.js'
import { factory } from '../helpers/factory.js'
import { until } from '../helpers/until.js'
import { program } from '../scenarios/appliance.js'
import { git, remoteUrl } from '../scenarios/client.js'
import { gitOverSsh, identityOf } from './ssh-client.js'

t.test('sockets are those that systemd passes to this process', t => {
  const pid = String(process.pid)
  const both = { LISTEN_FDS: '2', LISTEN_PID: pid, LISTEN_FDNAMES: 'a:b', OTHER: 'x' }
  t.same(inheritedSockets(both), { http: 3, ssh: 4 })
  t.same(both, { OTHER: 'x' }, 'children do not get them')
  t.same(inheritedSockets({ LISTEN_FDS: '1', LISTEN_PID: pid }), { http: 3, ssh: undefined })
  const { stdio, environment } = passedOn({ http: 3, ssh: 4 })
  t.same(stdio, [3, 4])
  t.same(inheritedSockets(environment), { http: 3, ssh: 4 }, '`up` passes them to the server that it starts')
  t.same(passedOn({}), { stdio: [], environment: {} })
  for (const other of [
    {},
    { LISTEN_FDS: '2', LISTEN_PID: '1' },
    { LISTEN_FDS: '2' },
    { LISTEN_FDS: 'x', LISTEN_PID: pid }
  ])
    t.same(inheritedSockets(other), { http: undefined, ssh: undefined })
  t.end()
})

const { home, databaseUrl } = await testDatabase()

/** Opens a socket in this process, for the manager to keep. */
async function opened(): Promise<{ server: Server; fd: number; port: number }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { fd } = (server as unknown as { _handle: { fd: number } })._handle
  return { server, fd, port: (server.address() as AddressInfo).port }
}

/** Starts servers on the sockets 3 and 4. */
class Manager {
  readonly #shell: ChildProcess
  readonly #lines: AsyncIterator<string>

  constructor(sockets: readonly number[]) {
    const environment = Object.entries(process.env).filter(([name]) => name !== 'NODE_OPTIONS')
    this.#shell = spawn('bash', [], {
      env: { ...Object.fromEntries(environment), GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl },
      stdio: ['pipe', 'pipe', 'ignore', ...sockets]
    })
    this.#lines = createInterface({ input: this.#shell.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
  }

  /** Resolves with the pid when the server is ready. */
  async start(): Promise<number> {
    const command = `exec '${process.execPath}' '${program}' server --port 7`
    this.#shell.stdin?.write(`(export LISTEN_FDS=2 LISTEN_PID=$BASHPID; ${command}) & echo $!\n`)
    const pid = Number((await this.#lines.next()).value)
    await until('the server is ready', () => readNote().pid === pid)
    return pid
  }

  async stop(pid: number): Promise<number> {
    this.#shell.stdin?.write(`kill ${pid}; wait ${pid}; echo $?\n`)
    return Number((await this.#lines.next()).value)
  }

  async end(): Promise<void> {
    this.#shell.stdin?.end('kill $(jobs -p) 2>/dev/null; wait\n')
    if (this.#shell.exitCode === null) await once(this.#shell, 'exit')
  }
}

const note = join(home, 'run/server.json')
const readNote = (): { pid?: number; host?: string; port?: number; ssh_port?: number } => {
  const text = existsSync(note) ? readFileSync(note, 'utf8') : ''
  return text.startsWith('{') && text.trimEnd().endsWith('}') ? JSON.parse(text) : {}
}

t.test('no request fails while one server after another takes the sockets', async t => {
  const folder = t.testdir()
  const user = await factory.admin()
  const project = await factory.project({ owner: user })
  await factory.file(project, 'a.txt', 'a')
  const identity = await identityOf(folder, user)
  const [http, ssh] = [await opened(), await opened()]
  const manager = new Manager([http.fd, ssh.fd])
  t.teardown(() => manager.end())
  const first = await manager.start()
  // From here on, only the manager and its servers have the sockets.
  for (const { server } of [http, ssh]) server.close()
  t.match(readNote(), { host: '127.0.0.1', port: http.port, ssh_port: ssh.port })

  const url = `http://127.0.0.1:${http.port}`
  const headers = { 'private-token': user.privateToken }
  const failures: string[] = []
  let working = true
  const loop = async (what: string, work: () => Promise<void>) => {
    for (; working; counts[what] = (counts[what] ?? 0) + 1) {
      await work().catch(error => failures.push(`${what}: ${error} ${error.cause ?? ''}`))
    }
  }
  const counts: Record<string, number> = {}
  const issues = `${url}/api/v3/projects/${project.id}/issues`
  const expectStatus = async (response: Response, status: number) => {
    const text = await response.text()
    if (response.status !== status) throw new Error(`${response.status} ${text}`)
  }
  const clients = [
    loop('read', async () => expectStatus(await fetch(issues, { headers }), 200)),
    loop('write', async () => {
      const body = new URLSearchParams({ title: `issue ${counts.write ?? 0}` })
      await expectStatus(await fetch(issues, { method: 'POST', headers, body }), 201)
    }),
    loop('git over HTTP', async () => {
      await git(folder, ['ls-remote', remoteUrl(url, project.path, user.username, user.privateToken)])
    }),
    loop('git over SSH', async () => {
      const remote = `ssh://git@127.0.0.1:${ssh.port}/${project.path}.git`
      const { ok, stderr } = await gitOverSsh(folder, identity, ['ls-remote', remote])
      if (!ok) throw new Error(stderr)
    })
  ]
  const more = async (times: number) => {
    const before = { ...counts }
    const done = (what: string) => (counts[what] ?? 0) - (before[what] ?? 0)
    const kinds = ['read', 'write', 'git over HTTP', 'git over SSH']
    await until('every client has worked', () => failures.length > 0 || kinds.every(what => done(what) >= times))
  }

  await more(2)
  const slow = halfRequest(issues, user.privateToken)
  await slow.begun
  const second = await manager.start()
  const stopped = manager.stop(first)
  await more(1)
  t.match(await slow.end(), { status: 201, connection: 'close' }, 'a request that has begun is answered')
  t.equal(await stopped, 0)
  await more(1)
  // As systemd restarts a service: between the two, clients wait.
  t.equal(await manager.stop(second), 0)
  await manager.start()
  await more(1)
  working = false
  await Promise.all(clients)
  t.same(failures, [])
  const found = await rows<{ count: number }>("select count(*) as count from issues where title like 'issue %'")
  t.equal(found[0]?.count, counts.write)
})

/** Sends half of a request; `end` sends the rest, and returns the answer. */
function halfRequest(url: string, token: string) {
  const body = JSON.stringify({ title: 'slow' })
  const sent = request(url, {
    method: 'POST',
    headers: { 'private-token': token, 'content-type': 'application/json', 'content-length': body.length }
  })
  const answer = new Promise<{ status: number | undefined; connection: string | undefined }>((resolve, reject) => {
    sent.once('error', reject)
    sent.once('response', response => {
      response.resume()
      resolve({ status: response.statusCode, connection: response.headers.connection })
    })
  })
  answer.catch(() => undefined)
  const begun = new Promise<void>(resolve => sent.write(body.slice(0, 5), () => resolve()))
  return {
    begun,
    end: () => {
      sent.end(body.slice(5))
      return answer
    }
  }
}
