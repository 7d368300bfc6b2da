// Behaviour in which clients of other vendors differ from OpenSSH.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import ssh2 from 'ssh2'
import t from 'tap'
import { loadConfig } from '../../src/config.js'
import { startSsh } from '../../src/server/ssh/start.js'
import { testApp } from '../helpers/app.js'
import { identityOf } from './ssh-client.js'

const app = await testApp(t)
process.env.GITSTEAD_SSH_PORT = '0'
loadConfig({ port: 0 })
const server = await startSsh()
if (!server) throw new Error('no SSH server')
t.teardown(() => server.stop())
const { port } = server

const KEXINIT = 20
const ECDH_INIT = 30
const ECDH_REPLY = 31

/** A packet before keys are exchanged, in the form of RFC 4253. */
function packet(payload: Buffer): Buffer {
  const padding = 8 - ((5 + payload.length) % 8) + 8
  const head = Buffer.alloc(5)
  head.writeUInt32BE(1 + payload.length + padding)
  head.writeUInt8(padding, 4)
  return Buffer.concat([head, payload, randomBytes(padding)])
}

const text = (content: string | Buffer) => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(content.length)
  return Buffer.concat([length, Buffer.from(content as string)])
}

const LISTS = 10
const COOKIE = 16

function kexInit(methods: string, hostKeys: string): Buffer {
  const cipher = 'aes128-ctr'
  const hmac = 'hmac-sha2-256'
  const lists = [methods, hostKeys, cipher, cipher, hmac, hmac, 'none', 'none', '', '']
  return Buffer.concat([Buffer.from([KEXINIT]), randomBytes(COOKIE), ...lists.map(text), Buffer.from([1, 0, 0, 0, 0])])
}

/** The name lists in a message of this kind. */
function listsOf(init: Buffer): string[] {
  const lists: string[] = []
  for (let at = 1 + COOKIE; lists.length < LISTS; ) {
    const length = init.readUInt32BE(at)
    lists.push(init.subarray(at + 4, at + 4 + length).toString())
    at += 4 + length
  }
  return lists
}

/** Sends the first message of the key exchange with the lists, as dropbear does, and again when the first was too early. */
async function exchangeKeys(methods: string, hostKeys: string): Promise<number | undefined> {
  const socket = connect(port, '127.0.0.1')
  const publicKey = Buffer.concat([Buffer.from([ECDH_INIT]), text(randomBytes(32))])
  const guess = [packet(kexInit(methods, hostKeys)), packet(publicKey)]
  socket.write(Buffer.concat([Buffer.from('SSH-2.0-guess\r\n'), ...guess]))
  const first = (list = '') => list.split(',')[0]
  let seen: Buffer = Buffer.alloc(0)
  let greeted = false
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      seen = Buffer.concat([seen, chunk])
      const line: number = greeted ? -1 : seen.indexOf('\r\n')
      if (line >= 0) seen = seen.subarray(line + 2)
      greeted ||= line >= 0
      while (greeted && seen.length >= 4 && seen.length >= 4 + seen.readUInt32BE(0)) {
        const length = seen.readUInt32BE(0)
        const payload = seen.subarray(5, 4 + length - seen.readUInt8(4))
        seen = seen.subarray(4 + length)
        if (payload[0] !== KEXINIT) return payload[0]
        const [method, hostKey] = listsOf(payload)
        // RFC 4253, 7.1: the guess was right when both sides have the same names first.
        const isRight = first(method) === first(methods) && first(hostKey) === first(hostKeys)
        if (!isRight) socket.write(packet(publicKey))
      }
    }
  } finally {
    socket.destroy()
  }
  return undefined
}

t.test('a client that sends its first message before it knows the methods of the server (dropbear)', async t => {
  const dropbear = 'curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp521,kexguess2@matt.ucc.asn.au'
  t.equal(await exchangeKeys(dropbear, 'ssh-ed25519,ecdsa-sha2-nistp256'), ECDH_REPLY)
  t.equal(await exchangeKeys('curve25519-sha256', 'ecdsa-sha2-nistp256'), ECDH_REPLY)
  t.equal(await exchangeKeys('unknown-method,curve25519-sha256', 'ssh-ed25519'), ECDH_REPLY)
})

t.test('a client that expects the name of its algorithm in the answer to its key (asyncssh)', async t => {
  const user = await app.make.user()
  const { file } = await identityOf(t.testdir(), user, ['-t', 'rsa', '-b', '2048', '-m', 'PEM'])
  const client = new ssh2.Client()
  client.connect({ host: '127.0.0.1', port, username: 'git', privateKey: readFileSync(file) })
  await once(client, 'connect')
  const names: string[] = []
  type Handler = (protocol: unknown, name: string, key: Buffer) => void
  const { _protocol } = client as unknown as { _protocol: { _handlers: { USERAUTH_PK_OK: Handler } } }
  const { USERAUTH_PK_OK: handle } = _protocol._handlers
  _protocol._handlers.USERAUTH_PK_OK = (protocol, name, key) => {
    names.push(name)
    handle(protocol, name, key)
  }
  await once(client, 'ready')
  client.end()
  t.equal(names.length, 1)
  t.match(names[0], /^rsa-sha2-(256|512)$/)
})
