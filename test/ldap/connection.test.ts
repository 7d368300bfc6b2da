// Attacks on the way to a directory: somebody in the network who wants the passwords, or wants to answer for the directory.
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { LDAP_DEFAULTS, type LdapSettings } from '../../src/config/ldap.js'
import { isPasswordOfEntry, withDirectory } from '../../src/ldap/connection.js'
import type { Directory } from '../../src/ldap/directory.js'
import { DirectoryFailure } from '../../src/ldap/failure.js'
import { findEntries } from '../../src/ldap/people.js'
import { testDirectory } from '../helpers/slapd.js'
import t from '../helpers/tap.js'

const server = await testDirectory(t, { lines: ['referral ldap://127.0.0.1:1/'] })
const ada = await server.addPerson('ada')

let names = 0
const directory = (settings: Partial<LdapSettings> = {}): Directory => ({
  ...(LDAP_DEFAULTS as Omit<LdapSettings, 'urls' | 'base'>),
  name: `directory-${++names}`,
  urls: [server.secure],
  ca: server.ca,
  bind_dn: server.root.dn,
  bind_password: server.root.password,
  base: `ou=people,${server.suffix}`,
  ...settings
})

const find = (settings: Partial<LdapSettings> = {}, login = 'ada') => {
  const asked = directory(settings)
  return withDirectory(asked, connection => findEntries(connection, asked, login))
}

async function failureOf(work: Promise<unknown>): Promise<DirectoryFailure> {
  const error = await work.then(
    () => new Error('it did not fail'),
    (failure: unknown) => failure
  )
  if (error instanceof DirectoryFailure) return error
  throw error
}

/** A server that gets every byte that a client sends, and answers the first ones with `answer`. */
async function impostor(t: { teardown(work: () => unknown): void }, answer: (socket: Socket) => void) {
  let received: Buffer = Buffer.alloc(0)
  const fake = createServer(socket => {
    socket.on('error', () => undefined)
    socket.once('data', () => answer(socket))
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
    })
  })
  await once(fake.listen(0, '127.0.0.1'), 'listening')
  const address = fake.address()
  t.teardown(() => fake.close())
  return {
    urls: [`ldap://localhost:${typeof address === 'object' && address ? address.port : 0}`],
    received: () => received.toString('latin1')
  }
}

/** The answer to StartTLS. 0 grants it. */
const startTlsAnswer = (code: number) => Buffer.from([0x30, 12, 2, 1, 1, 0x78, 7, 10, 1, code, 4, 0, 4, 0])

t.test('ldaps:// and StartTLS lead to the same entry', async t => {
  for (const url of [server.secure, server.plain]) {
    const [entry] = await find({ urls: [url] })
    t.equal(entry?.dn, ada)
    t.equal(await isPasswordOfEntry(directory({ urls: [url] }), ada, 'the password of ada'), true)
    t.equal(await isPasswordOfEntry(directory({ urls: [url] }), ada, 'wrong'), false)
  }
})

t.test('the first URL that answers is used', async t => {
  const [entry] = await find({ urls: ['ldaps://localhost:1', server.secure] })
  t.equal(entry?.dn, ada)
  const failure = await failureOf(find({ urls: ['ldaps://localhost:1'] }))
  t.match(failure, { step: 'connect', isAway: true, message: /ECONNREFUSED/, remedy: /check that the directory runs/ })
})

t.test('a wrong certificate ends the connection before a password is sent', async t => {
  const other = await testDirectory(t)
  const { port } = new URL(server.secure)
  for (const [urls, ca] of [
    [[server.secure], other.ca],
    [[server.plain], other.ca],
    [[server.secure], null],
    // The certificate is valid for localhost, and not for this name of the same server.
    [[`ldaps://127.0.0.1:${port}`], server.ca]
  ] as const) {
    const before = server.binds()
    const failure = await failureOf(find({ urls, ca }))
    t.match(failure, { step: 'tls', isAway: true, remedy: /check ca/ }, failure.message)
    t.equal(server.binds(), before)
  }
  t.equal((await find({ ca: other.ca, verify: false })).length, 1, 'unless the sysadmin switches the check off')
  t.match(await failureOf(find({ ca: '/nowhere/ca.pem' })), { step: 'tls', message: /cannot be read \(ENOENT\)/ })
})

t.test('without StartTLS there is no sign-in, and no password leaves', async t => {
  const refusing = await impostor(t, socket => socket.write(startTlsAnswer(2)))
  const failure = await failureOf(find({ urls: refusing.urls }))
  t.match(failure, { step: 'tls', message: /refuses StartTLS/, remedy: /allow StartTLS/ })
  t.notMatch(refusing.received(), 'the root of the tree')
  const answer = isPasswordOfEntry(directory({ urls: refusing.urls }), ada, 'the password of ada')
  t.match(await failureOf(answer), { step: 'tls' })
  t.notMatch(refusing.received(), 'the password of ada')
})

t.test('bytes between the answer to StartTLS and the encryption are an attack', async t => {
  // A beginning of the answer to the bind, which would end with the encrypted answer of the real directory: success.
  const begin = Buffer.from([0x30, 26, 2, 1, 2, 0x61, 21, 10, 1, 0, 4, 0, 4, 14])
  const injecting = await impostor(t, socket => socket.write(Buffer.concat([startTlsAnswer(0), begin])))
  t.match(await failureOf(find({ urls: injecting.urls })), { step: 'tls', message: /more follows it/ })
  const stuttering = await impostor(t, socket => socket.write(Buffer.alloc(5000, 0x30)))
  t.match(await failureOf(find({ urls: stuttering.urls })), { step: 'tls' })
  const endless = await impostor(t, socket => socket.write(Buffer.from([0x30, 0x84, 0x7f, 0xff, 0xff, 0xff, 2, 1, 1])))
  t.match(await failureOf(find({ urls: endless.urls, timeout: 1 })), { step: 'tls', message: /within 1 s/ })
})

t.test('a directory that says nothing is given up', async t => {
  const silent = await impostor(t, () => undefined)
  t.match(await failureOf(find({ urls: silent.urls, timeout: 1 })), { step: 'tls', message: /no answer within 1 s/ })
  const plain = { urls: silent.urls, starttls: false, timeout: 1 }
  t.match(await failureOf(find(plain)), { step: 'bind', isAway: true, message: /timed out/ })
})

t.test('an answer without an end is cut', async t => {
  const endless = await impostor(t, socket => {
    socket.write(Buffer.from([0x30, 0x84, 0x7f, 0xff, 0xff, 0xff, 2, 1, 2, 0x61]))
    const more = () => void (socket.destroyed || (socket.write(Buffer.alloc(1_048_576)) ? setImmediate(more) : 0))
    socket.on('drain', more)
    more()
  })
  const failure = await failureOf(find({ urls: endless.urls, starttls: false, timeout: 60 }))
  t.match(failure, { step: 'bind', message: /more than 16777216 bytes/ })
})

t.test('an empty password is no password, and a name without = is no DN', async t => {
  const before = server.binds()
  for (const dn of [ada, '', 'EXTERNAL', 'PLAIN']) t.equal(await isPasswordOfEntry(directory(), dn, ''), false)
  for (const dn of ['', 'EXTERNAL', 'PLAIN']) t.equal(await isPasswordOfEntry(directory(), dn, 'x'), false)
  t.equal(server.binds(), before)
})

t.test('a referral is not followed, and is not a yes', async t => {
  const elsewhere = 'uid=ada,dc=elsewhere,dc=org'
  t.equal(await isPasswordOfEntry(directory(), elsewhere, 'the password of ada'), false)
  t.match(await failureOf(find({ base: 'dc=elsewhere,dc=org' })), { step: 'search', remedy: /never followed/ })
  await server.add(`ou=far,ou=people,${server.suffix}`, {
    objectClass: ['referral', 'extensibleObject'],
    ou: 'far',
    ref: 'ldap://127.0.0.1:1/ou=far,dc=example,dc=org'
  })
  const asked = directory()
  const found = await withDirectory(asked, async connection => {
    const entries = await findEntries(connection, asked, 'ada')
    return { entries, references: connection.references }
  })
  t.match(found, { entries: { length: 1 }, references: 1 })
})

t.test('a wrong service account and a wrong base say so', async t => {
  const wrong = await failureOf(find({ bind_password: 'wrong' }))
  t.match(wrong, {
    step: 'bind',
    isAway: true,
    message: /refuses the name or the password \(result 49\)/,
    remedy: /bind_password/
  })
  t.notMatch(wrong.message, 'wrong')
  const base = await failureOf(find({ base: `ou=nobody,${server.suffix}` }))
  t.match(base, { step: 'search', isAway: false, remedy: /correct base/ })
})

t.test('a few connections serve many sign-ins', async t => {
  const one = directory({ connections: 1 })
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, at) => isPasswordOfEntry(one, ada, at % 2 === 0 ? 'the password of ada' : 'wrong'))
  )
  t.strictSame(answers, [true, false, true, false, true, false, true, false, true, false])
  const crowd = Array.from({ length: 120 }, () => isPasswordOfEntry(one, ada, 'wrong').catch((error: unknown) => error))
  const refused = (await Promise.all(crowd)).filter(answer => answer instanceof DirectoryFailure)
  t.ok(refused.length >= 19, `${refused.length} are refused at once`)
  t.ok(refused.every(({ isAway }) => !isAway))
})
