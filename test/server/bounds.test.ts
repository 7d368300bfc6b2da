// Clients that open many requests, send large bodies, or never finish a body. Limits are small here, so that one socket is
// enough to reach them.
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { loadConfig } from '../../src/config.js'
import { testApp } from '../helpers/app.js'
import { testDatabase } from '../helpers/database.js'
import t from '../helpers/tap.js'
import { until } from '../helpers/until.js'

const LIMITS = {
  GITSTEAD_HTTP_REQUESTS_PER_ADDRESS: '3',
  GITSTEAD_HTTP_BODY_TIMEOUT: '1',
  GITSTEAD_HTTP_BODY_MEMORY: '2097152'
}

async function listening(t: { teardown(fn: () => unknown): void }) {
  await testDatabase()
  Object.assign(process.env, LIMITS)
  loadConfig({ port: 0 })
  const app = await testApp(t)
  await app.fastify.listen({ host: '127.0.0.1', port: 0 })
  // A connection that becomes idle while the server closes would hold it for the whole keep-alive time.
  t.teardown(() => app.fastify.server.closeAllConnections())
  const { port } = app.fastify.server.address() as AddressInfo
  const open = (text: string): Socket & { answer: () => string } => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk
    })
    socket.on('error', () => undefined)
    t.teardown(() => socket.destroy())
    socket.write(text)
    return Object.assign(socket, { answer: () => answer })
  }
  const url = `http://127.0.0.1:${port}/api/v3`
  return { app, open, url }
}

const unfinished = (length: number, path = '/api/v3/session', header = 'A: b') =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\n${header}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n{"`

t.test('clients', async t => {
  const { app, open, url } = await listening(t)

  /** Requests that stay open. The server ends each after a second; if a busy machine needs longer, `renew` opens them again. */
  function holding(texts: readonly string[]) {
    let sockets: Socket[] = []
    return {
      renew: () => {
        if (sockets.every(({ destroyed }) => destroyed)) sockets = texts.map(open)
      },
      end: () => {
        for (const socket of sockets) socket.destroy()
      }
    }
  }

  t.test('the server ends a body that never ends', async t => {
    const socket = open(unfinished(100))
    await once(socket, 'close')
    t.match(socket.answer(), /^HTTP\/1.1 408 .*"message":"408 Request Timeout"/s)
  })

  t.test('the server ends a refused body that never ends, too', async t => {
    const socket = open(unfinished(1_000_000_000))
    await once(socket, 'close')
    t.match(socket.answer(), /^HTTP\/1.1 413 /)
  })

  t.test('the server ends headers that never end', async t => {
    const socket = open('GET /api/v3/user HTTP/1.1\r\nHost: x\r\nA: ')
    await once(socket, 'close')
    t.match(socket.answer(), /^HTTP\/1.1 408 /)
  })

  t.test('requests that Node.js refuses itself get JSON, too', async t => {
    const long = 'x'.repeat(20_000)
    for (const [request, status] of [
      [`GET /${long} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
      [`GET /api/v3/user HTTP/1.1\r\nHost: x\r\nA: ${long}\r\n\r\n`, 431],
      [`GET /api/v3/users/${'x'.repeat(2000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 414],
      ['NONSENSE / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
      ['GET /api/v3/user HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
      ['PROPFIND /api/v3/user HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 405],
      ['POST /api/v3/session HTTP/1.1\r\nHost: x\r\nExpect: x\r\nConnection: close\r\n\r\n', 417]
    ] as const) {
      const socket = open(request)
      await once(socket, 'close')
      const [head = '', body = ''] = socket.answer().split('\r\n\r\n')
      t.match(head, new RegExp(`^HTTP/1.1 ${status} `), request.slice(0, 40))
      t.match(head, /content-type: application\/json/i)
      const { message, error } = JSON.parse(body)
      t.match(message ?? error, String(status))
    }
  })

  t.test('more open requests than one address may have', async t => {
    const held = holding(Array.from({ length: 3 }, () => unfinished(100)))
    const refused = await until('429', async () => {
      held.renew()
      const answer = await fetch(`${url}/projects/visible`)
      return answer.status === 429 ? answer : undefined
    })
    t.equal(refused.headers.get('retry-after'), '1')
    t.match(await refused.json(), { message: /^429 Too Many Requests - more than 3 open requests from one address/ })
    const other = await fetch(`${url}/projects/visible`, { headers: { 'x-forwarded-for': '192.0.2.7' } })
    t.equal(other.status, 200, 'another address is served')
    held.end()
    await until('the address is served again', async () => (await fetch(`${url}/projects/visible`)).status === 200)
  })

  t.test('the addresses of one IPv6 network count together', async t => {
    const of = (address: string) => fetch(`${url}/projects/visible`, { headers: { 'x-forwarded-for': address } })
    const texts = [1, 2, 3].map(at => unfinished(100, '/api/v3/session', `X-Forwarded-For: 2001:db8:0:1::${at}`))
    const held = holding(texts)
    await until('429', async () => {
      held.renew()
      return (await of('2001:db8:0:1::9')).status === 429
    })
    t.equal((await of('2001:db8:0:2::9')).status, 200, 'another network is served')
    held.end()
  })

  t.test('more bytes of bodies than one address may have', async t => {
    const user = await app.make.user()
    const project = await app.make.project({ owner: user })
    const path = `/api/v3/projects/${project.id}/repository/files?private_token=${user.privateToken}`
    const json = { 'content-type': 'application/json' }
    const write = `${url}${path.slice('/api/v3'.length)}`
    const body = JSON.stringify({ file_path: 'x', branch_name: 'b', commit_message: 'x', content: 'x'.repeat(100_000) })
    const post = () => fetch(write, { method: 'POST', headers: json, body })
    const refused = await until('429', async () => {
      // It ends after a second; on a busy machine, that may be before the other one begins.
      const held = open(unfinished(1_000_000, path))
      const answer = await post()
      held.destroy()
      return answer.status === 429 ? answer : undefined
    })
    t.match(await refused.json(), { message: /too many large bodies at once/ })
    await until('another request is served', async () => (await post()).status !== 429)
    const large = await fetch(write, {
      method: 'POST',
      headers: json,
      body: `"${'x'.repeat(1_048_576)}"`
    })
    t.match(await large.json(), { message: /at most 1048576 bytes \(half of http.body_memory\)/ })
  })
})
