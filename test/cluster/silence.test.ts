// Story: a request that was passed on to a machine which had left the network waited for up to ten minutes, as git may work for long without
// a byte. A command over SSH waited without end.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { askPeer } from '../../src/cluster/peers.js'
import { RepositoryElsewhere } from '../../src/cluster/repository-elsewhere.js'
import { PeerSilent } from '../../src/cluster/silence.js'
import { joinStorages } from '../../src/cluster/storages.js'
import { execute } from '../../src/db/connect/sql.js'
import { ELSEWHERE, runElsewhere } from '../../src/server/ssh/elsewhere.js'
import { testDatabase } from '../helpers/database.js'
import t from '../helpers/tap.js'

await testDatabase()
t.setTimeout(300_000)

/** Answers /long as soon as others have asked ten times for its health, and nothing else. Takes every connection. */
const SERVER = `
  const server = require('node:http').createServer()
  let asked = 0
  let long = []
  server.on('request', (request, answer) => {
    if (request.url === '/long') long.push(answer)
    else if (request.url === '/begun') answer.write('begun')
    else if (request.url === '/-/health' && answer.end('{}') && ++asked === 10) for (const each of long) each.end('done')
  })
  server.on('upgrade', (request, socket) => {
    socket.on('error', () => undefined)
    socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: ' + request.headers.upgrade + '\\r\\n\\r\\n')
  })
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))
`

const peer = spawn(process.execPath, ['-e', SERVER], {
  env: { ...process.env, NODE_OPTIONS: '' },
  stdio: ['ignore', 'pipe', 'inherit']
})
t.teardown(() => peer.kill('SIGKILL'))
const [port] = await once(peer.stdout, 'data')
const address = `http://127.0.0.1:${String(port).trim()}`

function begin(url: string, headers = {}): ClientRequest {
  const request = askPeer(address, { method: 'GET', url, headers })
  request.end()
  return request
}

/** Returns what ends a request or a connection: an error, or undefined. */
const endOf = (what: ClientRequest | IncomingMessage | Socket): Promise<unknown> =>
  new Promise(resolve => {
    what.once('error', resolve)
    what.once('close', () => resolve(undefined))
  })

t.test('long work of a machine that lives is waited for', async t => {
  const [answer] = (await once(begin('/long'), 'response')) as [IncomingMessage]
  t.equal(Buffer.concat(await answer.toArray()).toString(), 'done')
})

t.test('requests to a machine that stands still end', async t => {
  const uid = 'e'.repeat(32)
  await execute(
    `insert into machines (uid, name, boot, version, address, created_at, started_at, lease_until, server_until)
     values (?, 'away', ?, '1', ?, now(3), now(3), now(3) + interval 1 hour, now(3) + interval 1 hour)`,
    [uid, uid, address]
  )
  await execute(
    `insert into storages (name, marker, owner, lease_until, created_at)
     values ('default', ?, ?, now(3) + interval 1 hour, now(3))`,
    [uid, uid]
  )
  await joinStorages()

  const never = begin('/never')
  const begun = begin('/begun')
  const [answer] = (await once(begun, 'response')) as [IncomingMessage]
  answer.resume()
  begun.on('error', () => undefined)
  const elsewhere = await RepositoryElsewhere.open({ id: 1, storage: 'default' })
  let input: (() => void) | undefined
  const exchange = {
    ...{ input: noInput(), write: async () => undefined, say: () => undefined, cut: () => undefined },
    ...{ protocol: undefined, address: '127.0.0.1', signal: new AbortController().signal }
  }
  async function* noInput() {
    await new Promise<void>(resolve => {
      input = resolve
    })
    yield* []
  }
  const overSsh = runElsewhere(
    address,
    { fingerprint: 'SHA256:x', command: "git-upload-pack 'ann/engine.git'" },
    exchange
  )
  const connecting = begin(`${ELSEWHERE.path}x`, { connection: 'Upgrade', upgrade: ELSEWHERE.protocol })
  const [, connection] = (await once(connecting, 'upgrade')) as [unknown, Socket]
  const ends = Promise.all([endOf(never), endOf(answer), endOf(connection)])
  const asking = t.rejects(elsewhere.text({ want: 'refs' }), { message: /does not answer any more/ })
  const running = t.rejects(overSsh, { message: 'the machine of this repository does not answer' })

  peer.kill('SIGSTOP')
  const [whole, part, changed] = await ends
  t.type(whole, PeerSilent)
  t.type(part, Error)
  t.type(changed, PeerSilent)
  await asking
  await running
  input?.()

  const began = performance.now()
  t.type(await endOf(begin('/never')), PeerSilent, 'and the next one, too')
  t.comment(`after ${Math.round(performance.now() - began)} ms`)
  peer.kill('SIGCONT')
  const [last] = (await once(begin('/begun'), 'response')) as [IncomingMessage]
  last.destroy()
})
