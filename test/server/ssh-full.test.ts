// Three addresses with 250 connections that never logged in locked everybody else out.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import ssh2 from 'ssh2'
import t from 'tap'
import { addKey } from '../../src/areas/people/users/keys.js'
import { opensshKey } from '../../src/areas/projects/ssh/host-keys.js'
import { loadConfig } from '../../src/config.js'
import { sshCounts } from '../../src/server/ssh/counts.js'
import { startSsh } from '../../src/server/ssh/start.js'
import { testApp } from '../helpers/app.js'
import { someOrigin } from '../helpers/factory.js'
import { until } from '../helpers/until.js'

const app = await testApp(t)
process.env.GITSTEAD_SSH_PORT = '0'
loadConfig({ port: 0 })
const server = await startSsh()
if (!server) throw new Error('no SSH server')
t.teardown(() => server.stop())
const { port } = server

/** Connects, and stays silent. */
function idle(localAddress: string): Socket {
  const socket = connect({ host: '127.0.0.1', port, localAddress })
  return socket.on('error', () => undefined).resume()
}

async function login(privateKey: string): Promise<ssh2.Client> {
  const client = new ssh2.Client()
  client.on('error', () => undefined)
  client.connect({ host: '127.0.0.1', port, username: 'git', privateKey, readyTimeout: 60_000 })
  await new Promise<void>((resolve, reject) =>
    client.once('ready', resolve).once('close', () => reject(new Error('cut off')))
  )
  return client
}

t.test('others log in while ten addresses hold a thousand idle connections', async t => {
  const user = await app.make.user()
  const key = opensshKey()
  const parsed = ssh2.utils.parseKey(key)
  if (parsed instanceof Error) throw parsed
  await addKey(user, { title: 'k', key: `${parsed.type} ${parsed.getPublicSSH().toString('base64')}` }, someOrigin)

  const attackers = Array.from({ length: 1000 }, (_, at) => idle(`127.0.0.${2 + (at % 10)}`))
  await Promise.all(attackers.map(socket => once(socket, 'connect')))
  await until('all were met', () => sshCounts.connections + sshCounts.refused === 1000)
  t.equal(sshCounts.connections, 250, 'half of the connections may be without a login')

  const clients: ssh2.Client[] = []
  let gone = 0
  for (let at = 0; at < 20; at++) {
    // The attackers come back at the same time.
    for (let again = 0; again < 10; again++) attackers.push(idle(`127.0.0.${2 + again}`))
    clients.push((await login(key)).once('close', () => gone++))
  }
  t.equal(clients.length, 20)
  t.equal(gone, 0, 'clients that have logged in stay')
  for (const one of [...attackers, ...clients]) one.destroy()
  await until('they are gone', () => sshCounts.connections === 0)
})

t.test('of several addresses, the one with most connections loses its oldest', async t => {
  const sizes = { '127.0.2.2': 1, '127.0.1.3': 83, '127.0.1.4': 100, '127.0.1.5': 66 }
  const open = Object.entries(sizes).map(([address, size]) => Array.from({ length: size }, () => idle(address)))
  await until('the table is full', () => sshCounts.connections === 250)
  const late = idle('127.0.3.6')
  await until('one connection was closed', () => open.flat().some(socket => socket.destroyed))
  t.equal(late.destroyed, false)
  t.same(
    open.map(some => some.filter(socket => socket.destroyed).length),
    [0, 0, 1, 0],
    'not the only connection of another network, although it is the oldest'
  )
  t.equal(open[2]?.[0]?.destroyed, true)
  for (const one of [...open.flat(), late]) one.destroy()
  await until('they are gone', () => sshCounts.connections === 0)
})
