import { linkIdentity, unlinkIdentity } from '../../../../src/areas/people/identity/links.js'
import {
  AddressInUse,
  createPerson,
  findByIdentity,
  type Person,
  updatePerson
} from '../../../../src/areas/people/identity/provision.js'
import { blockUser } from '../../../../src/areas/people/users/user-state.js'
import { updateUser } from '../../../../src/areas/people/users/user-update.js'
import { row, rows } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, GUEST, MASTER, OWNER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin as origin } from '../../../helpers/factory.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
let made = 0

const person = (values: Partial<Person> = {}): Person => {
  const number = ++made
  return {
    provider: 'company',
    externUid: `subject-${number}`,
    username: `person-${number}`,
    name: `Person ${number}`,
    email: `person-${number}@company.example`,
    emailVerified: true,
    ...values
  }
}
const create = (values: Partial<Person> = {}) => createPerson(person(values), { approval: false }, origin)
const membership = async (userId: number, groupId: number) =>
  (
    await row<{ access_level: number }>(
      "select access_level from members where source_type = 'namespace' and source_id = ? and user_id = ?",
      [groupId, userId]
    )
  )?.access_level

t.test('a person gets an account that belongs to the identity, and has no password', async t => {
  const given = person({ admin: true, external: true })
  const user = await createPerson(given, { approval: false }, origin)
  t.match(user, { username: given.username, name: given.name, email: given.email, admin: true, external: true })
  t.match(await findByIdentity('company', given.externUid), { id: user.id, state: 'active', confirmed: true })
  t.equal(
    await findByIdentity('other', given.externUid),
    undefined,
    'the same id at another provider is another person'
  )
  t.equal(await findByIdentity('company', given.externUid.toUpperCase()), undefined, 'ids are compared exactly')
  for (const password of ['', '!', given.email]) {
    t.equal(
      (await app.nobody.post('/session', { login: user.username, password })).statusCode,
      password === '' ? 400 : 401
    )
  }
  const record = (await app.as(await app.make.admin()).get(`/users/${user.id}`)).json()
  t.match(record, {
    identities: [{ provider: 'company', extern_uid: given.externUid }],
    is_admin: true,
    external: true
  })
  const [audited] = await rows<{ changes: string }>(
    "select changes from audit_events where action = 'user.create' and target_id = ?",
    [String(user.id)]
  )
  t.match(audited?.changes, /"provider":\{"after":"company"\}/)
})

t.test('an account with approval cannot be used yet', async t => {
  const given = person()
  await createPerson(given, { approval: true }, origin)
  t.match(await findByIdentity('company', given.externUid), { state: 'blocked' })
})

t.test('an equal address never opens an account', async t => {
  const victim = await app.make.user()
  await t.rejects(create({ email: victim.email }), AddressInUse)
  await t.rejects(create({ email: victim.email.toUpperCase(), emailVerified: false }), AddressInUse)
  const { identities } = (await app.as(await app.make.admin()).get(`/users/${victim.id}`)).json()
  t.same(identities, [])
  const squatter = await app.make.user()
  await app.as(squatter).post('/user/emails', { email: 'newcomer@company.example' })
  await t.resolves(create({ email: 'newcomer@company.example' }), 'an address that its user has not confirmed is free')
  await app.as(squatter).post('/user/emails', { email: 'other@company.example' })
  await t.rejects(create({ email: 'other@company.example', emailVerified: false }), AddressInUse)
})

t.test('an unverified address is not confirmed', async t => {
  const given = person({ emailVerified: false })
  await createPerson(given, { approval: false }, origin)
  t.match(await findByIdentity('company', given.externUid), { confirmed: false })
})

t.test('usernames become valid and free', async t => {
  const named = async (username: string, email = person().email) => (await create({ username, email })).username
  t.equal(await named('Zoë Müller'), 'Zoe-Muller')
  t.equal(await named('zoe-muller'), 'zoe-muller1', 'names differ by more than their case')
  t.equal(await named('ann@company.example'), 'ann')
  t.equal(await named('', 'ben@company.example'), 'ben')
  t.equal(await named('admin'), 'admin1', 'a path of a page')
  t.equal(await named('../../etc.git.atom'), 'etc')
  t.equal(await named('李小龍'), 'user')
  t.equal(await named('\u0000\n'), 'user1')
  t.equal((await named('x'.repeat(3000))).length, 200)
  const group = await app.make.group()
  t.equal(await named(group.path), `${group.path}1`)
})

t.test('names become one line', async t => {
  t.equal((await create({ name: ' Ann\r\nBcc: x ' })).name, 'Ann Bcc: x')
  t.equal([...(await create({ name: '🦊'.repeat(300) })).name].length, 255)
  const blank = person({ name: '  ' })
  t.equal((await createPerson(blank, { approval: false }, origin)).name, blank.username)
})

t.test('unusable addresses and ids are refused', async t => {
  for (const email of ['', 'nobody', 'a@b, c@d', 'a@b\r\nBcc: c@d', `${'x'.repeat(300)}@company.example`]) {
    await t.rejects(create({ email }), { message: /email/ })
  }
  for (const externUid of ['', ' ', 'x ', 'x'.repeat(256)]) {
    await t.rejects(create({ externUid }), { message: /extern_uid/ })
  }
})

t.test('of two first sign-ins at once, one creates the account', async t => {
  const given = person()
  const both = await Promise.allSettled([1, 2].map(() => createPerson(given, { approval: false }, origin)))
  t.same(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  t.ok(await findByIdentity('company', given.externUid))
})

t.test('a provider changes name and rights, and only what differs', async t => {
  const given = person()
  const { id } = await createPerson(given, { approval: false }, origin)
  t.equal(await updatePerson(id, given, origin), false)
  t.equal(await updatePerson(id, { ...given, name: 'New Name', admin: true, external: true }, origin), true)
  t.match(await findByIdentity('company', given.externUid), { name: 'New Name', admin: true, external: true })
  t.equal(await updatePerson(id, { ...given, name: '' }, origin), false, 'what the provider does not decide stays')
  const [audited] = await rows<{ changes: string }>(
    "select changes from audit_events where action = 'user.update' and target_id = ?",
    [String(id)]
  )
  t.match(JSON.parse(audited?.changes ?? ''), { admin: { before: false, after: true } })
  await t.rejects(updatePerson(999_999, given, origin), { message: '404 User Not Found' })
})

t.test('a provider gives, changes and takes memberships, and leaves those of people', async t => {
  const [first, second, third] = [await app.make.group(), await app.make.group(), await app.make.group()]
  const given = person({
    groups: new Map([
      [first.path, DEVELOPER],
      [second.path.toUpperCase(), GUEST],
      ['missing', OWNER]
    ])
  })
  const { id } = await createPerson(given, { approval: false }, origin)
  t.same([await membership(id, first.id), await membership(id, second.id)], [DEVELOPER, GUEST])
  t.equal(await updatePerson(id, given, origin), false)
  const admin = app.as(await app.make.admin())
  await admin.post(`/groups/${third.id}/members`, { user_id: id, access_level: GUEST })
  const levels = new Map([
    [first.path, MASTER],
    [third.path, OWNER]
  ])
  t.equal(await updatePerson(id, { ...given, groups: levels }, origin), true)
  t.same(
    [await membership(id, first.id), await membership(id, second.id), await membership(id, third.id)],
    [MASTER, undefined, GUEST]
  )
  t.equal(await updatePerson(id, { ...given, groups: levels }, origin), false)
  await updatePerson(id, { ...given, provider: 'other', groups: new Map() }, origin)
  t.equal(await membership(id, first.id), MASTER, 'another provider takes nothing')
  await updatePerson(id, { ...given, groups: new Map() }, origin)
  t.same([await membership(id, first.id), await membership(id, third.id)], [undefined, GUEST])
  const audited = await rows<{ action: string }>(
    "select action from audit_events where action like 'member.%' and changes like ?",
    [`%"after":"${given.username}"%`]
  )
  t.same(
    audited.map(({ action }) => action).sort(),
    ['add', 'add', 'add', 'remove', 'remove', 'update'].map(verb => `member.${verb}`)
  )
})

t.test('the number of statements does not depend on the number of groups', async t => {
  const groups = await Promise.all(Array.from({ length: 20 }, () => app.make.group()))
  const given = person({ groups: new Map(groups.map(({ path }) => [path, GUEST])) })
  const { id } = await createPerson(given, { approval: false }, origin)
  t.equal(await countStatements(() => updatePerson(id, given, origin)), 2)
})

t.test('a group keeps its last owner', async t => {
  const group = await app.make.group()
  const given = person({ groups: new Map([[group.path, OWNER]]) })
  const { id } = await createPerson(given, { approval: false }, origin)
  await updatePerson(id, { ...given, groups: new Map() }, origin)
  t.equal(await membership(id, group.id), OWNER)
  await create({ groups: new Map([[group.path, OWNER]]) })
  await updatePerson(id, { ...given, groups: new Map([[group.path, GUEST]]) }, origin)
  t.equal(await membership(id, group.id), GUEST)
})

t.test('a provider cannot take the rights of the last administrator, nor of the last one with a password', async t => {
  const known = await rows<{ id: number }>("select id from users where admin = 1 and state = 'active'")
  const local = await app.make.admin()
  for (const { id } of known) await blockUser(id, origin)
  const given = person({ admin: true })
  const isAdmin = async (id: number) =>
    (await row<{ admin: number }>('select admin from users where id = ?', [id]))?.admin
  t.equal(await updatePerson(local.id, person({ name: 'Renamed', admin: false }), origin), true, 'the name changes')
  t.equal(await isAdmin(local.id), 1)
  const { id } = await createPerson(given, { approval: false }, origin)
  t.equal(await updatePerson(local.id, person({ name: 'Renamed', admin: false }), origin), false)
  t.equal(await isAdmin(local.id), 1, 'the other one could not sign in without the provider')
  await updatePerson(id, { ...given, admin: false }, origin)
  t.equal(await isAdmin(id), 0)
  await app.make.admin()
  await updatePerson(local.id, person({ name: 'Renamed', admin: false }), origin)
  t.equal(await isAdmin(local.id), 1, 'a person gave these rights')
  const other = person({ admin: true })
  const decided = await createPerson(other, { approval: false }, origin)
  await updatePerson(decided.id, { ...other, admin: false }, origin)
  t.equal(await isAdmin(decided.id), 0)
})

const rightsOf = (id: number) =>
  row<{ admin: number; external: number }>('select admin, external from users where id = ?', [id])

t.test('a user has a right while one of several providers says so', async t => {
  const company = person({ admin: false, external: true })
  const { id, username } = await createPerson(company, { approval: false }, origin)
  const directory = { ...company, provider: 'directory', externUid: `entry-${id}`, admin: true, external: false }
  await linkIdentity({ id, username }, directory, origin)
  t.equal(await updatePerson(id, directory, origin), true)
  t.same(await rightsOf(id), { admin: 1, external: 1 })
  for (const one of [company, directory]) t.equal(await updatePerson(id, one, origin), false, one.provider)
  t.same(await rightsOf(id), { admin: 1, external: 1 }, 'in any order')
  t.equal(await updatePerson(id, { ...company, admin: true }, origin), false)
  t.equal(await updatePerson(id, { ...directory, admin: false }, origin), false)
  t.equal(await updatePerson(id, { ...company, external: false }, origin), true, 'the last one that said external')
  t.same(await rightsOf(id), { admin: 0, external: 0 })
})

t.test('what a person gives stays, and what a person takes stays until a provider gives it again', async t => {
  const given = person({ admin: true, external: false })
  const { id, username } = await createPerson(given, { approval: false }, origin)
  const directory = { ...given, provider: 'directory', externUid: `entry-${id}`, admin: false }
  await linkIdentity({ id, username }, directory, origin)
  await updateUser(id, { admin: false, external: true }, origin)
  await updatePerson(id, directory, origin)
  t.same(await rightsOf(id), { admin: 0, external: 1 }, 'what the provider said before does not count')
  await updatePerson(id, given, origin)
  t.same(await rightsOf(id), { admin: 1, external: 1 })
  await updateUser(id, { admin: true }, origin)
  await updatePerson(id, { ...given, admin: false }, origin)
  t.same(await rightsOf(id), { admin: 1, external: 1 })
})

t.test('rights of an administrator end with the only identity that gave them', async t => {
  await app.make.admin()
  const given = person({ admin: true })
  const { id, username } = await createPerson(given, { approval: false }, origin)
  const directory = { ...given, provider: 'directory', externUid: `entry-${id}` }
  await linkIdentity({ id, username }, directory, origin)
  await updatePerson(id, directory, origin)
  await unlinkIdentity({ id, username }, 'company', origin)
  t.same(await rightsOf(id), { admin: 1, external: 0 })
  await unlinkIdentity({ id, username }, 'directory', origin)
  t.same(await rightsOf(id), { admin: 0, external: 0 })
})

t.test('of providers that decide at once, none is forgotten', async t => {
  const company = person({ admin: true })
  const { id, username } = await createPerson(company, { approval: false }, origin)
  const directory = { ...company, provider: 'directory', externUid: `entry-${id}`, admin: false }
  await linkIdentity({ id, username }, directory, origin)
  await Promise.all([
    updatePerson(id, { ...company, admin: false }, origin),
    updatePerson(id, { ...directory, admin: true }, origin)
  ])
  t.same(await rightsOf(id), { admin: 1, external: 0 })
})
