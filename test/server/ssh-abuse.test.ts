// Clients of SSH that guess, stall, flood or send nonsense. The server continues to serve others.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import ssh2 from 'ssh2'
import t from 'tap'
import { addKey } from '../../src/areas/people/users/keys.js'
import { opensshKey } from '../../src/areas/projects/ssh/host-keys.js'
import { loadConfig } from '../../src/config.js'
import { rows } from '../../src/db/connect/sql.js'
import { slotCounts } from '../../src/git/process/slots.js'
import { FLUSH, pktLine } from '../../src/git/transport/pkt-line.js'
import { sshCounts } from '../../src/server/ssh/counts.js'
import { startSsh } from '../../src/server/ssh/start.js'
import { testApp } from '../helpers/app.js'
import { someOrigin, type TestUser } from '../helpers/factory.js'
import { until } from '../helpers/until.js'

const app = await testApp(t)
Object.assign(process.env, {
  GITSTEAD_SSH_PORT: '0',
  GITSTEAD_SSH_LOGIN_TIMEOUT: '3',
  GITSTEAD_SSH_IDLE_TIMEOUT: '1',
  GITSTEAD_SSH_CONNECTIONS_PER_ADDRESS: '30',
  GITSTEAD_SSH_COMMANDS_PER_CLIENT: '6',
  GITSTEAD_GIT_STALL: '1'
})
loadConfig({ port: 0 })
const server = await startSsh()
if (!server) throw new Error('no SSH server')
t.teardown(() => server.stop())
const { port } = server

async function member() {
  const project = await app.make.project()
  await app.make.file(project, 'README.md', '# Read me\n')
  return { project, key: await keyOf(project.owner), command: `git-upload-pack '${project.path}'` }
}

async function keyOf(user: TestUser): Promise<string> {
  const key = opensshKey()
  const parsed = ssh2.utils.parseKey(key)
  if (parsed instanceof Error) throw parsed
  const text = `${parsed.type} ${parsed.getPublicSSH().toString('base64')}`
  await addKey(user, { title: 'k', key: text }, someOrigin)
  return key
}

/** Logs in. Errors of a client that is cut off do not fail the test. */
async function login(privateKey: string, more: ssh2.ConnectConfig = {}): Promise<ssh2.Client> {
  const client = new ssh2.Client()
  client.on('error', () => undefined)
  client.connect({ host: '127.0.0.1', port, username: 'git', privateKey, readyTimeout: 60_000, ...more })
  await new Promise<void>((resolve, reject) =>
    client.once('ready', resolve).once('close', () => reject(new Error('cut off')))
  )
  return client
}

const run = (client: ssh2.Client, command: string, env: Record<string, string> = {}) =>
  new Promise<ssh2.ClientChannel>((resolve, reject) =>
    client.exec(command, { env }, (error, channel) => (error ? reject(error) : resolve(channel)))
  )

const ended = (emitter: ssh2.Client | Socket) =>
  new Promise<void>(resolve => void emitter.once('close', () => resolve()))
const raw = () => {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined).resume()
  return socket
}

t.test('1000 wrong keys: each connection tries 20, and the address is cut off; right keys work', async t => {
  const { key, command } = await member()
  const guess = () => {
    const methods = Array.from({ length: 25 }, () => ({
      type: 'publickey' as const,
      username: 'git',
      key: opensshKey()
    }))
    return login(key, { authHandler: methods as never }).then(
      () => 'in',
      () => 'cut off'
    )
  }
  const before = sshCounts.wrongKeys
  for (let round = 0; round < 10; round++) {
    const outcomes = await Promise.all(Array.from({ length: 5 }, guess))
    t.same(new Set(outcomes), new Set(['cut off']))
  }
  t.ok(sshCounts.wrongKeys - before <= 1000)
  t.ok(sshCounts.wrongKeys - before >= 600)
  const client = await login(key)
  const channel = await run(client, command)
  channel.resume().stderr.resume()
  channel.end()
  t.equal((await once(channel, 'exit'))[0], 0)
  client.end()
})

t.test('a signature by another key, and passwords, are refused', async t => {
  const { key } = await member()
  await t.rejects(login(opensshKey()), { message: 'cut off' })
  await t.rejects(login(key, { privateKey: undefined as never, password: 'git' }), { message: 'cut off' })
})

t.test('clients that do not log in, or do nothing after it, are cut off', async t => {
  const half = raw()
  half.write('SSH-2.0-slow\r\n')
  const strangers = [half, ...Array.from({ length: 5 }, raw)].map(ended)
  const { key } = await member()
  const idle = ended(await login(key))
  await Promise.all([...strangers, idle])
  await until('no connection is left', () => sshCounts.connections === 0)
  t.equal(sshCounts.connections, 0)
})

t.test('more connections than one address may have are refused with the name of the limit', async t => {
  const open = Array.from({ length: 30 }, raw)
  await Promise.all(open.map(socket => once(socket, 'connect')))
  await until('all are open', () => sshCounts.connections === 30)
  const more = connect(port, '127.0.0.1')
  const [text] = await once(more, 'data')
  t.match(String(text), /^gitstead: more than 30 connections from your address \(ssh.connections_per_address\)/)
  for (const socket of [...open, more]) socket.destroy()
  await until('they are gone', () => sshCounts.connections === 0)
})

t.test('nonsense ends the connection and nothing else', async t => {
  const ident = 'SSH-2.0-OpenSSH_9.2\r\n'
  const packet = (payload: Buffer) => {
    const padding = 8 - ((payload.length + 5) % 8) + (8 - ((payload.length + 5) % 8) < 4 ? 8 : 0)
    const head = Buffer.alloc(5)
    head.writeUInt32BE(payload.length + padding + 1)
    head[4] = padding
    return Buffer.concat([head, payload, Buffer.alloc(padding)])
  }
  const firsts = [
    Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
    Buffer.from('SSH-1.0-old\r\n'),
    Buffer.from('x'.repeat(100_000)),
    ...Array.from({ length: 20 }, (_, at) => Buffer.concat([Buffer.from(ident), randomBytes(1 + at * 50)])),
    // Every kind of message before the keys are exchanged, with too little or too much in it.
    ...Array.from({ length: 128 }, (_, kind) => Buffer.concat([Buffer.from(ident), packet(Buffer.from([kind]))])),
    ...Array.from({ length: 128 }, (_, kind) =>
      Buffer.concat([Buffer.from(ident), packet(Buffer.concat([Buffer.from([kind]), Buffer.alloc(64, 255)]))])
    )
  ]
  for (let at = 0; at < firsts.length; at += 20) {
    const sockets = firsts.slice(at, at + 20).map(bytes => {
      const socket = raw()
      socket.end(bytes)
      return socket
    })
    await Promise.all(sockets.map(ended))
  }
  const { key, command } = await member()
  const channel = await run(await login(key), command)
  channel.resume().stderr.resume()
  channel.end()
  t.equal((await once(channel, 'exit'))[0], 0)
})

t.test('a packet size of zero, with which nothing would ever be sent, ends the connection', async t => {
  const { key } = await member()
  const client = await login(key)
  const gone = ended(client)
  const protocol = (client as unknown as { _protocol: { session(id: number, window: number, size: number): void } })
    ._protocol
  protocol.session(77, 2 ** 21, 0)
  await gone
  t.pass('cut off')
})

t.test('a client that stalls holds nothing', async t => {
  const { project, key, command } = await member()
  const id =
    (await rows<{ id: string }>('select new_id as id from ref_changes where project_id = ?', [project.id]))[0]?.id ?? ''
  const half = [
    // Sends nothing after the list of refs, in every version.
    [command, {}, ''],
    [command, { GIT_PROTOCOL: 'version=2' }, ''],
    // The beginning of a request.
    [command, { GIT_PROTOCOL: 'version=2' }, pktLine('command=ls-refs\n')],
    // Git waits for the list of objects that the client has.
    [command, {}, Buffer.concat([pktLine(`want ${id} multi_ack_detailed side-band-64k\n`), FLUSH])],
    // The beginning of a push, and of its pack.
    [`git-receive-pack '${project.path}'`, {}, '00'],
    [
      `git-receive-pack '${project.path}'`,
      {},
      Buffer.concat([pktLine(`${'0'.repeat(40)} ${id} refs/heads/b\0report-status\n`), FLUSH, Buffer.from('PACK')])
    ]
  ] as const
  await Promise.all(
    half.map(async ([asked, env, sent]) => {
      const client = await login(key)
      const gone = ended(client)
      const channel = await run(client, asked, env)
      channel.on('error', () => undefined).resume()
      channel.stderr.resume()
      if (sent.length > 0) channel.write(sent)
      await gone
    })
  )
  await until('no process and no slot is left', () => slotCounts().running === 0 && slotCounts().waiting === 0)
  t.same(await rows("select id from ref_changes where project_id = ? and state = 'open'", [project.id]), [])
})

t.test('more commands of one user than may run at once are refused with the name of the limit', async t => {
  const { key, command } = await member()
  const client = await login(key)
  const channels = await Promise.all(Array.from({ length: 7 }, () => run(client, command)))
  const said = await Promise.race(
    channels.map(async channel => {
      channel.on('error', () => undefined).resume()
      return String((await once(channel.stderr, 'data'))[0])
    })
  )
  t.match(said, /more than 6 commands of yours run at once \(ssh.commands_per_client\)/)
  client.end()
})

t.test('a client that never reads is cut off', async t => {
  const { project, key } = await member()
  await app.make.file(project, 'large.bin', randomBytes(6 * 1024 * 1024).toString('base64'))
  const [tip] = await rows<{ id: string }>(
    'select new_id as id from ref_changes where project_id = ? order by id desc',
    [project.id]
  )
  const client = await login(key)
  const gone = ended(client)
  const channel = await run(client, `git-upload-pack '${project.path}'`)
  channel.on('error', () => undefined)
  channel.write(Buffer.concat([pktLine(`want ${tip?.id} side-band-64k\n`), FLUSH, pktLine('done\n')]))
  await gone
  await until('no slot is left', () => slotCounts().running === 0)
  t.equal(slotCounts().waiting, 0)
})
