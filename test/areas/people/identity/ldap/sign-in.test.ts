import {
  blockByDirectory,
  blockUser,
  unblockByDirectory,
  unblockUser
} from '../../../../../src/areas/people/users/user-state.js'
import { updateUser } from '../../../../../src/areas/people/users/user-update.js'
import { changePassword, resettableByAddress } from '../../../../../src/areas/reach/accounts/passwords.js'
import { execute, row, rows } from '../../../../../src/db/connect/sql.js'
import { Forbidden } from '../../../../../src/errors.js'
import { NO_PASSWORD } from '../../../../../src/lib/password-hash.js'
import { testApp } from '../../../../helpers/app.js'
import { someOrigin, type TestUser } from '../../../../helpers/factory.js'
import { giveApp } from '../../../../helpers/second-factors.js'
import { configureDirectory, testDirectory } from '../../../../helpers/slapd.js'
import { newKey } from '../../../../helpers/ssh-keys.js'
import t from '../../../../helpers/tap.js'
import { until } from '../../../../helpers/until.js'

const app = await testApp(t)
const directory = await testDirectory(t)

let addresses = 0
const fresh = () => `198.51.${Math.floor(++addresses / 250)}.${(addresses % 250) + 1}`
const session = (login: string, password: string, remoteAddress = fresh()) =>
  app.nobody.inject({ method: 'POST', url: '/api/v3/session', payload: { login, password }, remoteAddress })
const git = (login: string, password: string, remoteAddress = fresh()) =>
  app.fastify.inject({
    url: '/some/project.git/info/refs?service=git-upload-pack',
    headers: { authorization: `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}` },
    remoteAddress
  })
const page = (login: string, password: string, remoteAddress = fresh()) =>
  app.fastify.inject({
    method: 'POST',
    url: '/users/sign_in',
    headers: { host: 'git.example.org', origin: 'http://git.example.org' },
    payload: { login, password },
    remoteAddress
  })

t.test('the first sign-in makes the account, at each door', async t => {
  configureDirectory(t, directory)
  await directory.addPerson('ada', { cn: 'Ada Lovelace' })
  const made = await session('ada', 'the password of ada')
  t.equal(made.statusCode, 201, made.body)
  t.match(made.json(), { username: 'ada', name: 'Ada Lovelace', email: 'ada@example.org', state: 'active' })
  const [identity] = made.json().identities
  t.match(identity, { provider: 'company', extern_uid: /^[0-9a-f]{8}-[0-9a-f-]{27}$/ })
  t.equal((await session('ada@example.org', 'the password of ada')).json().id, made.json().id, 'the address works too')
  const opened = await page('ada', 'the password of ada')
  t.equal(opened.statusCode, 303, opened.body)
  const begun = await row('select provider, factor from sessions order by created_at desc limit 1')
  t.match(begun, { provider: 'company', factor: null })
  t.equal((await git('ada', 'the password of ada')).statusCode, 404, 'signed in, but there is no such project')
  for (const door of [session, git, page]) {
    t.equal((await door('ada', 'wrong')).statusCode, 401)
    t.equal((await door('nobody', 'the password of ada')).statusCode, 401)
  }
})

t.test('first sign-ins at once make one account', async t => {
  configureDirectory(t, directory)
  await directory.addPerson('barbara')
  const answers = await Promise.all(Array.from({ length: 6 }, () => session('barbara', 'the password of barbara')))
  t.strictSame([...new Set(answers.map(({ statusCode }) => statusCode))], [201])
  t.equal(new Set(answers.map(answer => answer.json().id)).size, 1)
})

t.test('a second factor of the appliance is asked for, whatever login the person uses', async t => {
  configureDirectory(t, directory)
  await directory.addPerson('lise')
  const { id } = (await session('lise', 'the password of lise')).json()
  await updateUser(id, { username: 'lise-renamed' }, someOrigin)
  const [user] = await rows<TestUser>('select id, username, name, email from users where id = ?', [id])
  if (!user) throw new Error('no user')
  await giveApp(user)
  for (const login of ['lise', 'lise@example.org', 'lise-renamed']) {
    const answers = [await session(login, 'the password of lise'), await git(login, 'the password of lise')]
    t.same(
      answers.map(({ statusCode }) => statusCode),
      [401, 401],
      login
    )
    t.match(answers[0]?.json().message, 'personal access token', login)
    t.equal((await page(login, 'the password of lise')).headers.location, '/users/sign_in/two_factor', login)
  }
})

t.test('an empty password is never asked about', async t => {
  configureDirectory(t, directory)
  await directory.addPerson('empty')
  const before = directory.binds()
  for (const door of [session, git, page]) t.not((await door('empty', '')).statusCode, 201)
  t.equal(directory.binds(), before)
  t.equal(await row("select id from users where username = 'empty'"), undefined)
})

t.test('no character of a login changes the filter', async t => {
  configureDirectory(t, directory, { filter: '(&(objectClass=person)(!(description=hidden)))' })
  await directory.addPerson('mallory', { description: 'hidden' })
  await directory.addPerson('eve')
  const logins = [
    '*',
    'ev*',
    'eve)(uid=*',
    '*)(|(uid=*',
    'eve)(|(objectClass=*)',
    'eve\0',
    '\\2a',
    'e\\76e',
    '(eve)',
    'mallory)(description=hidden',
    'mallory'
  ]
  for (const login of logins) {
    for (const password of ['the password of eve', 'the password of mallory']) {
      t.equal((await session(login, password)).statusCode, 401, login)
    }
  }
  t.equal((await session('eve', 'the password of eve')).statusCode, 201)
})

t.test('two entries with one username let nobody in', async t => {
  configureDirectory(t, directory)
  const values = { objectClass: 'inetOrgPerson', cn: 'twin', sn: 'twin', uid: 'twin', userPassword: 'the same' }
  for (const cn of ['one', 'two']) await directory.add(`cn=${cn},ou=people,${directory.suffix}`, { ...values, cn })
  t.equal((await session('twin', 'the same')).statusCode, 401)
})

t.test('an account is not taken over, only linked', async t => {
  configureDirectory(t, directory)
  const owner = await app.make.user({ username: 'grace', email: 'grace@example.org', password: 'their own secret' })
  await directory.addPerson('grace')
  const refused = await session('grace', 'the password of grace')
  t.equal(refused.statusCode, 403)
  t.match(refused.json().message, /An account with your address exists, and is not connected with Company/)
  t.match(
    (await page('grace', 'the password of grace')).body,
    /is not connected with Company: sign in to it and connect it/
  )
  t.equal((await session('grace', 'wrong')).statusCode, 401, 'a wrong password does not reveal it')
  t.equal((await session('grace', 'their own secret')).json().id, owner.id, 'the account keeps its password')
  t.strictSame(await rows('select id from identities where user_id = ?', [owner.id]), [])

  // Once an administrator has linked them, only the directory decides.
  const uid = await directory.idOf('uid=grace,ou=people,dc=example,dc=org')
  const root = await app.make.admin()
  const link = { provider: 'company', extern_uid: uid }
  t.equal((await app.as(root).put(`/users/${owner.id}`, link)).statusCode, 200)
  t.equal((await session('grace', 'the password of grace')).json().id, owner.id)
  t.equal((await session('grace', 'their own secret')).statusCode, 401)
  await app.as(root).put(`/users/${owner.id}`, { admin: true })
  t.equal(
    (await session('grace', 'their own secret')).statusCode,
    401,
    'an old password stays invalid for a new administrator'
  )
})

t.test('local_passwords allows both passwords', async t => {
  configureDirectory(t, directory, { local_passwords: true })
  const owner = await app.make.user({ username: 'shaw', password: 'their own secret' })
  await directory.addPerson('shaw')
  const uid = await directory.idOf('uid=shaw,ou=people,dc=example,dc=org')
  const root = await app.make.admin()
  await app.as(root).put(`/users/${owner.id}`, { provider: 'company', extern_uid: uid })
  t.equal((await session('shaw', 'their own secret')).json().id, owner.id)
  t.equal((await session('shaw', 'the password of shaw')).json().id, owner.id)
})

t.test('an administrator with a password of this appliance keeps it', async t => {
  configureDirectory(t, directory)
  const owner = await app.make.admin({ username: 'hopper', password: 'their own secret' })
  await directory.addPerson('hopper')
  const uid = await directory.idOf('uid=hopper,ou=people,dc=example,dc=org')
  await app.as(owner).put(`/users/${owner.id}`, { provider: 'company', extern_uid: uid })
  for (const password of ['the password of hopper', 'their own secret']) {
    t.equal((await session('hopper', password)).json().id, owner.id)
  }
})

t.test('a mailbox is not enough for the account of a directory', async t => {
  configureDirectory(t, directory)
  await directory.addPerson('perlman')
  const { id, email } = (await session('perlman', 'the password of perlman')).json()
  await execute('update users set admin = 1 where id = ?', [id])
  t.equal(await resettableByAddress(email), undefined)
  const change = { current: 'the password of perlman', password: 'a password of their own' }
  const user = { id, username: 'perlman', name: 'perlman', email, admin: true, external: false }
  await t.rejects(changePassword(user, change, { ...someOrigin, address: fresh() }), Forbidden)
  t.match(await row('select password_hash from users where id = ?', [id]), { password_hash: NO_PASSWORD })
  configureDirectory(t, directory, { local_passwords: true })
  t.match(await resettableByAddress(email), { user_id: id })
})

t.test('an address that nobody vouches for must be confirmed first', async t => {
  configureDirectory(t, directory, { trust_email: false })
  await directory.addPerson('hamilton', { mail: 'somebody.else@example.org' })
  for (const door of [session, git, page]) {
    t.equal((await door('hamilton', 'wrong')).statusCode, 401)
    const refused = await door('hamilton', 'the password of hamilton')
    t.equal(refused.statusCode, 403)
    t.match(refused.body, 'Confirm your email address first')
  }
  configureDirectory(t, directory)
  t.equal((await session('hamilton', 'the password of hamilton')).statusCode, 201)
  t.match(await row("select email_confirmed_at from users where username = 'hamilton'"), { email_confirmed_at: Date })
})

t.test('the account belongs to the id, not to the name', async t => {
  configureDirectory(t, directory)
  await directory.addPerson('maria')
  const { id } = (await session('maria', 'the password of maria')).json()
  await directory.rename('uid=maria,ou=people,dc=example,dc=org', 'uid=maria.new')
  await directory.addPerson('maria', { mail: 'other.maria@example.org', userPassword: 'of the new one' })
  const renamed = await session('maria.new', 'the password of maria')
  t.equal(renamed.json().id, id, 'the new name leads to the old account')
  t.equal((await session('maria', 'the password of maria')).json().id, id, 'and so does the name here')
  const second = await session('maria', 'of the new one')
  t.equal(second.statusCode, 201, second.body)
  t.match(second.json(), { username: 'maria1', email: 'other.maria@example.org' })
  t.not(second.json().id, id)
})

t.test('a blocked user stays out, and one who is back comes in', async t => {
  configureDirectory(t, directory)
  await directory.addPerson('joan')
  const { id } = (await session('joan', 'the password of joan')).json()
  t.equal((await git('joan', 'the password of joan')).statusCode, 404)
  await blockUser(id, someOrigin)
  for (const door of [session, git, page]) t.equal((await door('joan', 'the password of joan')).statusCode, 401)
  await unblockUser(id, someOrigin)
  await blockByDirectory(id, 'other', someOrigin)
  t.equal((await session('joan', 'the password of joan')).statusCode, 401, 'another directory has blocked the user')
  t.notOk(await unblockByDirectory(id, 'company', someOrigin))
  t.ok(await unblockByDirectory(id, 'other', someOrigin))
  await blockByDirectory(id, 'company', someOrigin)
  const root = await app.make.admin()
  const unblock = await app.as(root).put(`/users/${id}/unblock`)
  t.equal(unblock.statusCode, 403)
  t.equal(unblock.json().message, '403 Forbidden - LDAP blocked users cannot be unblocked by the API')
  const block = await app.as(root).put(`/users/${id}/block`)
  t.equal(block.json().message, '403 Forbidden - LDAP blocked users cannot be modified by the API')
  t.match((await app.as(root).get('/users', { blocked: true })).json(), [{ id, state: 'ldap_blocked' }])
  t.equal((await session('joan', 'the password of joan')).json().state, 'active')
  await execute("update users set state = 'blocked', block_reason = 'dormant' where id = ?", [id])
  t.equal((await session('joan', 'wrong')).statusCode, 401)
  t.equal((await session('joan', 'the password of joan')).json().state, 'active', 'a dormant user comes back')
})

t.test('git asks the directory once a minute for the same password', async t => {
  configureDirectory(t, directory)
  await directory.addPerson('linus')
  t.equal((await git('linus', 'the password of linus')).statusCode, 404)
  const before = directory.binds()
  for (let times = 0; times < 5; times++) t.equal((await git('linus', 'the password of linus')).statusCode, 404)
  t.equal(directory.binds(), before)
  t.equal((await git('linus', 'wrong')).statusCode, 401)
  const wrong = directory.binds()
  t.not(wrong, before)
  for (let times = 0; times < 5; times++) t.equal((await git('linus', 'wrong')).statusCode, 401)
  t.equal(directory.binds(), wrong, 'a wrong one is not repeated either: it could lock the account')
  const { id } = (await session('linus', 'the password of linus')).json()
  await blockUser(id, someOrigin)
  t.equal((await git('linus', 'the password of linus')).statusCode, 401, 'a block counts at once')
})

t.test('groups give memberships and rights at each sign-in', async t => {
  const group = await app.make.group({ path: 'web' })
  const staff = await directory.addPerson('rosa')
  const developers = await directory.addGroup('developers', [staff])
  const everybody = await directory.addGroup('everybody', [developers])
  const admins = await directory.addGroup('admins', [staff])
  for (const member_of of [null, 'memberOf']) {
    configureDirectory(t, directory, {
      attributes: { id: 'entryUUID', username: 'uid', name: 'cn', email: 'mail', member_of },
      groups: {
        base: `ou=groups,${directory.suffix}`,
        nested: 'walk',
        admin: admins.toUpperCase(),
        external: `cn=guests,ou=groups,${directory.suffix}`,
        members: [`${everybody.replaceAll(',', ' , ')} -> web as developer`, `${developers} -> Web as guest`]
      }
    })
    const user = (await session('rosa', 'the password of rosa')).json()
    t.match(user, { is_admin: true, external: false })
    const level = () =>
      row<{ access_level: number }>('select access_level from members where source_id = ? and user_id = ?', [
        group.id,
        user.id
      ])
    t.match(await level(), { access_level: 30 }, 'the highest level counts')
    await directory.replace(everybody, { member: [admins] })
    await directory.replace(admins, { member: [developers] })
    t.match(
      (await session('rosa', 'the password of rosa')).json(),
      { is_admin: true },
      'groups that contain each other'
    )
    await directory.replace(admins, { member: [everybody] })
    await directory.replace(everybody, { member: [admins] })
    t.match((await session('rosa', 'the password of rosa')).json(), { is_admin: false })
    t.match(await level(), { access_level: 10 })
    await directory.replace(everybody, { member: [developers] })
    await directory.replace(admins, { member: [staff] })
  }
})

t.test('the directory gives SSH keys, and takes back only its own', async t => {
  configureDirectory(t, directory, {
    attributes: { id: 'entryUUID', username: 'uid', name: 'cn', email: 'mail', ssh_keys: 'description' }
  })
  const [first, second, own, taken] = [newKey(''), newKey(''), newKey(''), newKey('')]
  const other = await app.make.user()
  await app.as(other).post('/user/keys', { title: 'taken', key: taken })
  const dn = await directory.addPerson('vera', { description: [`${first} laptop of vera`, 'no key', taken] })
  const user = (await session('vera', 'the password of vera')).json()
  const keys = async () =>
    (
      await rows<{ title: string; provider: string | null }>(
        'select title, provider from ssh_keys where user_id = ? order by id',
        [user.id]
      )
    ).map(({ title, provider }) => `${title} ${provider}`)
  t.same(await keys(), ['laptop of vera company'])
  await app.as({ ...user, privateToken: user.private_token }).post('/user/keys', { title: 'own', key: own })
  await directory.replace(dn, { description: [second, own] })
  await session('vera', 'the password of vera')
  t.same(await keys(), ['own null', 'company company'])
  await directory.replace(dn, { description: [] })
  await session('vera', 'the password of vera')
  t.same(await keys(), ['own null'])
})

t.test('strange values of an entry make a usable account, or none', async t => {
  configureDirectory(t, directory)
  await directory.addPerson('long', { cn: `${'L'.repeat(100_000)}`, mail: 'long@example.org' })
  t.equal((await session('long', 'the password of long')).json().name.length, 255)
  await directory.addPerson('lines', { cn: 'two\r\nlines', mail: 'lines@example.org' })
  t.equal((await session('lines', 'the password of lines')).json().name, 'two lines')
  await directory.add('uid=mute,ou=people,dc=example,dc=org', {
    objectClass: 'inetOrgPerson',
    uid: 'mute',
    cn: 'mute',
    sn: 'mute',
    userPassword: 'the password of mute'
  })
  const refused = await session('mute', 'the password of mute')
  t.equal(refused.statusCode, 403)
  t.match(refused.json().message, /The entry in Company makes no account/)
})

t.test('a directory that is away keeps out its own people only, and blocks nobody', async t => {
  configureDirectory(t, directory)
  await directory.addPerson('margaret')
  const made = (await session('margaret', 'the password of margaret')).json()
  const local = await app.make.user({ username: 'ken', password: 'their own secret' })
  await directory.stop()
  const away = await session('margaret', 'the password of margaret')
  t.equal(away.statusCode, 503)
  t.match(away.json().message, /The directory Company does not answer/)
  t.ok(Number(away.headers['retry-after']) > 0)
  const shown = await page('margaret', 'the password of margaret')
  t.equal(shown.statusCode, 503)
  t.match(shown.body, /The directory Company does not answer: try again in a minute/)
  t.equal((await git('margaret', 'another')).statusCode, 503)
  t.equal((await git('margaret', 'the password of margaret')).statusCode, 404, 'git still knows the password')
  t.equal((await session('ken', 'their own secret')).json().id, local.id)
  t.equal(
    (await session('ken', 'wrong')).statusCode,
    (await session('no such name', 'wrong')).statusCode,
    'no difference'
  )
  const { private_token: privateToken } = made
  t.equal(
    (await app.nobody.inject({ url: '/api/v3/user', headers: { 'private-token': privateToken } })).statusCode,
    200
  )
  const attacker = fresh()
  const guesses = await Promise.all(Array.from({ length: 15 }, (_, at) => session('ken', `guess ${at}`, attacker)))
  t.equal(guesses.filter(({ statusCode }) => statusCode === 429).length, 5, 'guesses at local passwords still count')
  await directory.start()
  await until('the directory is asked again', async () => {
    const back = await session('margaret', 'the password of margaret')
    return back.statusCode === 201
  })
  t.match(await row('select state from users where id = ?', [made.id]), { state: 'active' })
})
