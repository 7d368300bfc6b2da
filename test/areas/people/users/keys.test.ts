import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { addKey } from '../../../../src/areas/people/users/keys.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { type Asker, testApp } from '../../../helpers/app.js'
import { someOrigin } from '../../../helpers/factory.js'
import { waitingEvents } from '../../../helpers/published.js'
import { craftKey, ecdsaKey, newKey, positive, privateKeyFile, rsaKey } from '../../../helpers/ssh-keys.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

const FIELDS = ['can_push', 'created_at', 'id', 'key', 'title']
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const TAKEN = { message: { fingerprint: ['has already been taken'] } }
const UNREADABLE = { message: { fingerprint: ['cannot be generated'] } }
const NO_KEY = { message: '404 Key Not Found' }
const PRIVATE = { message: { key: [/^is a private key: keep it secret/] } }

const stored = (where: string, values: (string | number)[]) =>
  rows<{ id: number; public_key: string; fingerprint: string }>(
    `select id, public_key, fingerprint from ssh_keys where ${where}`,
    values
  )

t.test('keys of one’s own account', async t => {
  const app = await testApp(t)
  const [user, other] = [await app.make.user(), await app.make.user()]
  const [asker, stranger] = [app.as(user), app.as(other)]
  const add = (key: unknown, title: unknown = 'laptop', who: Asker = asker) => who.post('/user/keys', { title, key })

  t.test('POST adds one, GET lists them oldest first and without pages', async t => {
    const [first, second] = [newKey(), newKey('with a comment of words')]
    const res = await asker.post('/user/keys', { title: ' laptop ', key: `\n${first} \n`, id: 9, user_id: other.id })
    t.equal(res.statusCode, 201)
    t.same(Object.keys(res.json()).sort(), FIELDS)
    t.match(res.json(), { id: Number, title: 'laptop', key: first, created_at: DATE_TIME, can_push: false })
    const next = (await add(second)).json()
    const list = await asker.get('/user/keys', { per_page: 1 })
    t.same(list.json(), [res.json(), next])
    t.notOk(list.headers['x-total'])
    t.same((await asker.get(`/user/keys/${next.id}`)).json(), next)
    t.same((await stranger.get('/user/keys')).json(), [])
  })

  t.test('POST accepts every safe kind, with the fingerprint that ssh-keygen shows', async t => {
    const zero = craftKey('ssh-ed25519', Buffer.concat([Buffer.alloc(1), randomBytes(31)]))
    const keys = [zero, rsaKey(2048), ecdsaKey(256), ecdsaKey(384), ecdsaKey(521), newKey()]
    for (const key of keys) {
      const res = await add(key)
      t.equal(res.statusCode, 201, key)
      const [row] = await stored('id = ?', [res.json().id])
      const digest = createHash('sha256').update(Buffer.from(key.split(' ')[1] ?? '', 'base64'))
      t.equal(row?.fingerprint, digest.digest('base64').replace(/=+$/, ''))
    }
  })

  t.test('POST refuses a key that a user has already, with any comment', async t => {
    const key = newKey()
    const [type, base64] = key.split(' ')
    t.equal((await add(key)).statusCode, 201)
    for (const text of [key, `${type} ${base64}`, `${type}  ${base64} another comment`]) {
      for (const who of [asker, stranger]) {
        const res = await add(text, 'again', who)
        t.equal(res.statusCode, 400)
        t.same(res.json(), TAKEN)
      }
    }
  })

  t.test('POST of one key twice at once adds it once', async t => {
    const key = newKey()
    const answers = await Promise.all(Array.from({ length: 6 }, (_, at) => add(key, 'race', at % 2 ? asker : stranger)))
    t.same(answers.map(({ statusCode }) => statusCode).sort(), [201, 400, 400, 400, 400, 400])
  })

  t.test('POST refuses a private key, and keeps no part of it', async t => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const file = privateKeyFile('ed25519')
    const secrets = [
      file,
      privateKeyFile('rsa'),
      privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
      privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString(),
      'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: x\n',
      file.replace(/\n/g, ' '),
      file.split('\n').slice(1, -2).join(''),
      `${newKey()}\n${file}`
    ]
    const before = await stored('1 = 1', [])
    for (const secret of secrets) {
      const res = await add(secret)
      t.equal(res.statusCode, 400)
      t.match(res.json(), PRIVATE)
      t.notOk(res.payload.includes(secret.slice(40, 80)), 'and the answer does not contain it')
    }
    t.same(await stored('1 = 1', []), before)
    t.equal((await add(`${newKey('')} my private key`)).statusCode, 201, 'these are only words in a comment')
  })

  t.test('POST refuses a text that is not a key', async t => {
    const good = newKey()
    const [type = '', base64 = ''] = good.split(' ')
    const blob = Buffer.from(base64, 'base64')
    const point = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 7)])
    const modulus = positive(Buffer.alloc(256, 0x81))
    const wrong = [
      'nonsense',
      type,
      base64,
      `${type} `,
      `${type} !!!`,
      `ssh-rsa ${base64}`,
      `${type} ${blob.subarray(0, 40).toString('base64')}`,
      `${type} ${Buffer.concat([blob, Buffer.from('more')]).toString('base64')}`,
      `${type} ${base64}${base64}`,
      `command="sh" ${good}`,
      `no-pty ${good}`,
      `-oProxyCommand=x ${base64}`,
      `${good}\0`,
      `${good} \x1b[2J`,
      `${type} ${base64}\tcomment`,
      craftKey('ecdsa-sha2-nistp256', 'nistp256', point),
      craftKey('ssh-rsa', Buffer.from([1]), modulus),
      craftKey('ssh-rsa', Buffer.from([4]), modulus),
      craftKey('ssh-ed25519', 'short')
    ]
    for (const text of wrong) {
      const res = await add(text)
      t.equal(res.statusCode, 400, JSON.stringify(text.slice(0, 60)))
      t.same(res.json(), UNREADABLE, JSON.stringify(text.slice(0, 60)))
    }
  })

  t.test('POST refuses weak keys, and kinds that the server cannot read', async t => {
    t.match((await add(rsaKey(1024))).json(), {
      message: { key: ['has 1024 bits: ssh-rsa needs 2048 to 16384'] }
    })
    const kinds = [
      craftKey('ssh-dss', 'p', 'q', 'g', 'y'),
      craftKey('sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 1), 'ssh:'),
      craftKey('sk-ecdsa-sha2-nistp256@openssh.com', 'nistp256', 'point', 'ssh:'),
      craftKey('ssh-ed25519-cert-v01@openssh.com', 'x')
    ]
    for (const key of kinds) {
      const res = await add(key)
      t.equal(res.statusCode, 400)
      t.match(res.json(), { message: { key: [/^has a type that is not accepted: use ssh-ed25519, /] } })
    }
  })

  t.test('POST needs one line that is not too long', async t => {
    const [one, two] = [newKey(), newKey()]
    for (const text of [`${one}\n${two}`, `${one}\r${two}`, one.replace(' ', '\n'), `${one}\n# comment`]) {
      t.same((await add(text)).json(), { message: { key: ['should be a single line'] } })
    }
    const room = 5000 - one.length - 1
    const long = await add(`${one} ${'x'.repeat(room + 1)}`)
    t.same(long.json(), { message: { key: ['is too long (maximum is 5000 characters)'] } })
    t.equal((await add(`${one} ${'x'.repeat(room)}`)).statusCode, 201)
    t.same((await add('x'.repeat(20_001))).json(), { message: { key: ['is too long (maximum is 20000 characters)'] } })
  })

  t.test('POST refuses a value that is not text, or is missing', async t => {
    const key = newKey()
    const cases: [object, string][] = [
      [{}, 'title is missing, key is missing'],
      [{ title: 'x' }, 'key is missing'],
      [{ key }, 'title is missing'],
      [{ title: null, key }, 'title is missing'],
      [{ title: '', key }, 'title is empty'],
      [{ title: 'x', key: '' }, 'key is empty'],
      [{ title: ['x'], key }, 'title is invalid'],
      [{ title: 'x', key: [key] }, 'key is invalid'],
      [{ title: 'x', key: { type: 'ssh-rsa' } }, 'key is invalid']
    ]
    for (const [body, error] of cases) {
      const res = await asker.post('/user/keys', body)
      t.equal(res.statusCode, 400)
      t.match(res.json(), { error })
    }
    t.same((await add(key, 'x'.repeat(256))).json(), {
      message: { title: ['is too long (maximum is 255 characters)'] }
    })
    t.same((await add(key, '  ')).json(), { message: { title: ["can't be blank"] } })
    t.same((await add(' \n ')).json(), { message: { key: ["can't be blank"] } })
    t.equal((await add(key, '🔑'.repeat(255))).statusCode, 201)
  })

  t.test('DELETE answers with the key, and with 200 and no key when it is gone', async t => {
    const key = newKey()
    const made = (await add(key)).json()
    const res = await asker.delete(`/user/keys/${made.id}`)
    t.equal(res.statusCode, 200)
    t.same(res.json(), made)
    const again = await asker.delete(`/user/keys/${made.id}`)
    t.equal(again.statusCode, 200)
    t.equal(again.payload, '')
    t.equal((await add(key, 'mine now', stranger)).statusCode, 201, 'others can take it now')
  })

  t.test('a key of another user is not found', async t => {
    const { id } = (await add(newKey())).json()
    for (const number of [id, 999999, 0, -1, 4294967296]) {
      const res = await stranger.get(`/user/keys/${number}`)
      t.equal(res.statusCode, 404)
      t.same(res.json(), NO_KEY)
      t.equal((await stranger.delete(`/user/keys/${number}`)).payload, '')
    }
    t.equal((await asker.get(`/user/keys/${id}`)).statusCode, 200, 'and it stays')
    t.equal((await asker.get('/user/keys/first')).statusCode, 400)
  })

  t.test('a list of any length takes two statements', async t => {
    t.ok((await asker.get('/user/keys')).json().length > 5)
    t.equal(await countStatements(() => asker.get('/user/keys')), 2, 'one for the caller, one for the list')
  })

  t.test('a user may have a thousand', async t => {
    const hoarder = await app.make.user()
    const values = Array.from({ length: 999 }, (_, at) => `(${hoarder.id}, 'x', 'ssh-ed25519 x', 'hoard-${at}', now())`)
    await execute(
      `insert into ssh_keys (user_id, title, public_key, fingerprint, created_at) values ${values.join(', ')}`
    )
    t.equal((await add(newKey(), 'last', app.as(hoarder))).statusCode, 201)
    const res = await add(newKey(), 'too many', app.as(hoarder))
    t.equal(res.statusCode, 400)
    t.same(res.json(), { message: { key: ['is one too many (maximum is 1000)'] } })
  })

  t.test('nobody and blocked users may not', async t => {
    const blocked = app.as(await app.make.user({ blocked: true }))
    for (const who of [app.nobody, blocked]) {
      const answers = await Promise.all([
        who.get('/user/keys'),
        who.get('/user/keys/1'),
        who.post('/user/keys', { title: 'x', key: newKey() }),
        who.delete('/user/keys/1')
      ])
      for (const { statusCode } of answers) t.equal(statusCode, 401)
    }
  })
})

t.test('keys of others', async t => {
  const app = await testApp(t)
  const [user, other] = [await app.make.user(), await app.make.user()]
  const root = await app.make.admin()
  const admin = app.as(root)

  t.test('an administrator adds, lists and deletes them', async t => {
    const key = newKey()
    const made = await admin.post(`/users/${user.id}/keys`, { title: 'by root', key })
    t.equal(made.statusCode, 201)
    t.same((await admin.get(`/users/${user.id}/keys`)).json(), [made.json()])
    t.same((await app.as(user).get('/user/keys')).json(), [made.json()])
    const path = `/users/${user.id}/keys/${made.json().id}`
    t.same((await admin.delete(path)).json(), made.json())
    const again = await admin.delete(path)
    t.equal(again.statusCode, 404)
    t.same(again.json(), NO_KEY)
  })

  t.test('only keys of the user that the path names', async t => {
    const { id } = await addKey(user, { title: 'x', key: newKey() }, someOrigin)
    t.same((await admin.delete(`/users/${other.id}/keys/${id}`)).json(), NO_KEY)
    for (const nobody of ['999999', '0', 'abc', '1.5']) {
      const answers = await Promise.all([
        admin.get(`/users/${nobody}/keys`),
        admin.post(`/users/${nobody}/keys`, { title: 'x', key: newKey() }),
        admin.delete(`/users/${nobody}/keys/${id}`)
      ])
      for (const res of answers) {
        t.equal(res.statusCode, 404, nobody)
        t.same(res.json(), { message: '404 User Not Found' })
      }
    }
  })

  t.test('GET /keys/:id shows a key with its user', async t => {
    const { id } = await addKey(user, { title: 'shown', key: newKey() }, someOrigin)
    const res = await admin.get(`/keys/${id}`)
    t.equal(res.statusCode, 200)
    t.same(Object.keys(res.json()).sort(), [...FIELDS, 'user'].sort())
    t.match(res.json(), { id, title: 'shown', user: { id: user.id, email: user.email, identities: [] } })
    t.notOk('private_token' in res.json().user)
    for (const number of [999999, 0, -1, 4294967296]) {
      const missing = await admin.get(`/keys/${number}`)
      t.equal(missing.statusCode, 404)
      t.same(missing.json(), { message: '404 Not found' })
    }
  })

  t.test('the user may not, not even for the own account', async t => {
    const self = app.as(user)
    t.equal((await self.get(`/users/${user.id}/keys`)).statusCode, 403)
    t.equal((await self.post(`/users/${user.id}/keys`, { title: 'x', key: newKey() })).statusCode, 403)
    t.equal((await self.delete(`/users/${user.id}/keys/1`)).statusCode, 403)
    t.equal((await self.get('/keys/1')).statusCode, 403)
  })
})

t.test('events and audit of keys', async t => {
  const app = await testApp(t)
  const user = await app.make.user()
  const root = await app.make.admin()
  const key = newKey()
  const { id, created_at } = (
    await app.as(root, { sudo: user.username }).post('/user/keys', { title: 'told', key })
  ).json()
  await app.as(root).delete(`/users/${user.id}/keys/${id}`)
  await app.as(user).delete(`/user/keys/${id}`)

  t.test('each change is one event', async t => {
    const about = { id, key, username: user.username, created_at }
    for (const kind of ['key.added', 'key.removed'] as const) {
      const told = (await waitingEvents(kind)).filter(event => event.key.id === id)
      t.match(told, [{ kind, key: about }])
      t.equal(told.length, 1)
    }
  })

  t.test('the audit keeps the fingerprint, and names who acted as whom', async t => {
    const events = await rows<{ action: string; actor_name: string; acting_as: string | null; changes: string }>(
      "select action, actor_name, acting_as, changes from audit_events where target_type = 'key' and target_id = ? order by id",
      [String(id)]
    )
    t.match(events, [
      { action: 'key.create', actor_name: root.username, acting_as: user.username },
      { action: 'key.delete', actor_name: root.username, acting_as: null }
    ])
    t.match(JSON.parse(events[0]?.changes ?? ''), {
      user: { after: user.username },
      fingerprint: { after: /^SHA256:[A-Za-z0-9+/]{43}$/ }
    })
  })
})
