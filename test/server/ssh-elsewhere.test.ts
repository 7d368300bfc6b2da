// Story: the machine that ran a push died, and its client still had much to send. The server that had passed the push on waited for that
// machine forever, and kept what the client had sent.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ELSEWHERE, runElsewhere } from '../../src/server/ssh/elsewhere.js'
import type { Exchange } from '../../src/server/ssh/exchange.js'
import { testDatabase } from '../helpers/database.js'
import t from '../helpers/tap.js'

await testDatabase()
t.setTimeout(60_000)

t.test('a command of a machine that dies gives up what its client sends', async t => {
  const server = createServer()
  server.on('upgrade', (_request, socket) => {
    socket.on('error', () => undefined)
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${ELSEWHERE.protocol}\r\n\r\n`)
    socket.once('readable', () => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  let end: () => void = () => undefined
  const ended = new Promise<void>(resolve => {
    end = resolve
  })
  async function* input() {
    try {
      for (;;) yield Buffer.alloc(65_536)
    } finally {
      end()
    }
  }
  const exchange: Exchange = {
    ...{ input: input(), write: async () => undefined, say: () => undefined, cut: () => undefined },
    ...{ protocol: undefined, address: '127.0.0.1', signal: new AbortController().signal }
  }
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const asked = { fingerprint: 'SHA256:x', command: "git-receive-pack 'ann/engine.git'" }
  await runElsewhere(address, asked, exchange).catch(() => undefined)
  await ended
  t.pass('nobody waits any more')
})
