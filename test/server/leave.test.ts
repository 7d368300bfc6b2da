// Story: a server that stopped ended connections on which a request was on its way, and a proxy that had just chosen it showed an error.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { prepareToLeave } from '../../src/server/leave.js'

const REQUEST = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'

async function serve() {
  const server = createServer((_request, response) => response.end('answer'))
  const leave = prepareToLeave(server, false)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { leave, socket: connect((server.address() as AddressInfo).port, '127.0.0.1') }
}

t.test('a server that leaves answers the request of a connection that it has not accepted yet', async t => {
  const { leave, socket } = await serve()
  await once(socket, 'connect')
  socket.write(REQUEST)
  const left = leave()
  const answer = await text(socket)
  t.match(answer, /^HTTP\/1\.1 200 .*connection: close.*answer/is)
  await left
})

t.test('a server that leaves answers the request that arrives a moment later on an open connection', async t => {
  const { leave, socket } = await serve()
  await once(socket, 'connect')
  await sleep(50)
  const left = leave()
  await sleep(20)
  socket.write(REQUEST)
  t.match(await text(socket), /^HTTP\/1\.1 200 .*connection: close.*answer/is)
  await left
})

t.test('a connection without a request does not keep a server for long', async t => {
  const { leave, socket } = await serve()
  await once(socket, 'connect')
  await leave()
  t.equal(socket.closed, false)
  socket.destroy()
})
