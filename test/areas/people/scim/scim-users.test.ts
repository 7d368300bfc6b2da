// Accounts that a directory manages, with the examples of RFC 7644 and the requests of Okta and Entra ID.
import { beginSession } from '../../../../src/areas/people/credentials/credentials.js'
import { findByIdentity } from '../../../../src/areas/people/identity/provision.js'
import { insertIdentities } from '../../../../src/areas/people/users/identities.js'
import { approveUser } from '../../../../src/areas/people/users/suspension.js'
import { blockUser, unblockUser } from '../../../../src/areas/people/users/user-state.js'
import { loadConfig } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin } from '../../../helpers/factory.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { auditOf, directory, patch } from './directory.js'

const app = await testApp(t)
const ask = await directory(app)

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User'
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
let made = 0

/** A new user, as Okta sends it. */
function person(more: object = {}) {
  const name = `person${++made}`
  return {
    schemas: [USER],
    userName: `${name}@example.com`,
    name: { givenName: 'Test', familyName: name },
    emails: [{ primary: true, value: `${name}@example.com`, type: 'work' }],
    displayName: `Test ${name}`,
    locale: 'en-US',
    externalId: `00u${name}`,
    groups: [],
    password: '1mz050nq',
    active: true,
    ...more
  }
}

const create = async (more: object = {}) => (await ask('POST', '/Users', person(more))).body
const stateOf = async (id: string) =>
  (await row<{ state: string }>('select state from users where id = ?', [id]))?.state
const sessionsOf = async (id: string) => (await rows('select 1 from sessions where user_id = ?', [id])).length

t.test('what works is described', async t => {
  const configuration = await ask('GET', '/ServiceProviderConfig')
  t.equal(configuration.status, 200)
  t.equal(configuration.headers['content-type'], 'application/scim+json')
  t.match(configuration.body, {
    patch: { supported: true },
    bulk: { supported: true, maxOperations: 100, maxPayloadSize: 1_048_576 },
    etag: { supported: true },
    filter: { maxResults: 200 }
  })
  const types = await ask('GET', '/ResourceTypes')
  t.match(types.body, { totalResults: 2, Resources: [{ id: 'User', endpoint: '/Users' }, { id: 'Group' }] })
  t.match((await ask('GET', '/ResourceTypes/Group')).body, { name: 'Group' })
  t.equal((await ask('GET', '/ResourceTypes/Nothing')).status, 404)
  t.match((await ask('GET', '/Schemas')).body, { totalResults: 2 })
  const schema = await ask('GET', `/Schemas/${USER}`)
  t.match(schema.body, { id: USER, attributes: [{ name: 'userName', required: true, uniqueness: 'server' }] })
})

t.test('a user is created, as in RFC 7644, 3.3', async t => {
  const { status, body, headers } = await ask('POST', '/Users', {
    schemas: [USER],
    userName: 'bjensen',
    externalId: 'bjensen',
    name: { formatted: 'Ms. Barbara J Jensen III', familyName: 'Jensen', givenName: 'Barbara' },
    emails: [{ value: 'bjensen@example.com' }],
    [ENTERPRISE]: { department: 'Tour Operations' }
  })
  t.equal(status, 201)
  t.equal(headers.location, (body.meta as { location: string }).location)
  t.match(body, {
    schemas: [USER],
    id: /^\d+$/,
    externalId: 'bjensen',
    userName: 'bjensen',
    name: { formatted: 'Ms. Barbara J Jensen III', familyName: 'Jensen', givenName: 'Barbara' },
    active: true,
    emails: [{ value: 'bjensen@example.com', type: 'work', primary: true }],
    groups: [],
    meta: { resourceType: 'User', location: /\/scim\/v2\/Users\/\d+$/ }
  })
  const account = await row('select username, name, email, admin, state, confirmed_at from users where id = ?', [
    body.id
  ])
  t.match(account, { username: 'bjensen', name: 'Ms. Barbara J Jensen III', admin: 0, state: 'active' })
  t.ok((account as { confirmed_at: Date }).confirmed_at, 'the directory knows the address')
  t.equal((await findByIdentity('scim', 'bjensen'))?.id, Number(body.id))
  t.same((await ask('GET', `/Users/${body.id}`)).body, body)
  t.strictSame(await auditOf('user', body.id), [
    'okta scim user.create',
    'okta scim scim_user.create',
    'okta scim scim_user.update'
  ])
  const again = await ask('POST', '/Users', { userName: 'BJensen', emails: [{ value: 'other@example.com' }] })
  t.equal(again.status, 409)
  t.match(again.body, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: '409',
    scimType: 'uniqueness'
  })
})

t.test('an address as userName makes a username without it', async t => {
  const body = await create({ userName: 'zoë.o@example.com', emails: undefined })
  t.match(body, { userName: 'zoë.o@example.com', emails: [{ value: 'zoë.o@example.com' }] })
  t.match(await row('select username from users where id = ?', [body.id]), { username: 'zoe.o' })
  const other = await create({ userName: 'zoe.o@other.example' })
  t.match(await row('select username from users where id = ?', [other.id]), { username: 'zoe.o1' })
})

t.test('bad input', async t => {
  for (const [payload, scimType] of [
    [{ emails: [{ value: 'a@example.com' }] }, 'invalidValue'],
    [{ userName: 'no-address' }, 'invalidValue'],
    [{ userName: 'x', emails: [{ value: 'no address' }] }, 'invalidValue'],
    [{ userName: 'x'.repeat(256), emails: [{ value: 'a@example.com' }] }, 'invalidValue'],
    [{ userName: { a: 1 }, emails: [] }, 'invalidValue'],
    [{ userName: 'two\nlines', emails: [{ value: 'a@example.com' }] }, 'invalidValue'],
    [{ userName: 'x', active: 'perhaps', emails: [{ value: 'a@example.com' }] }, 'invalidValue']
  ] as const) {
    const answer = await ask('POST', '/Users', payload)
    t.match([answer.status, answer.body], [400, { status: '400', scimType }], JSON.stringify(payload).slice(0, 80))
  }
  t.equal((await ask('GET', '/Users/999999')).status, 404)
  t.match((await ask('GET', '/Users/x')).body, { status: '404', detail: /./ })
  t.equal((await ask('POST', '/Users', {}, { 'content-type': 'text/plain' })).status, 415)
})

t.test('a list has pages that count from 1, filters and an order', async t => {
  const some = [await create({ displayName: 'Pager A' }), await create({ displayName: 'Pager B' })]
  const named = encodeURIComponent('displayName sw "pager"')
  const first = await ask('GET', `/Users?filter=${named}&count=1&startIndex=1`)
  t.match(first.body, { totalResults: 2, itemsPerPage: 1, startIndex: 1, Resources: [{ id: some[0]?.id }] })
  const second = await ask('GET', `/Users?filter=${named}&count=1&startIndex=2`)
  t.match(second.body, { totalResults: 2, startIndex: 2, Resources: [{ id: some[1]?.id }] })
  t.match((await ask('GET', `/Users?filter=${named}&count=0`)).body, { totalResults: 2, Resources: [] })
  const sorted = await ask('GET', `/Users?filter=${named}&sortBy=displayName&sortOrder=descending`)
  t.match(sorted.body, { Resources: [{ id: some[1]?.id }, { id: some[0]?.id }] })
  t.equal((await ask('GET', '/Users?sortBy=password')).status, 400)
  const one = await countStatements(() => ask('GET', '/Users?count=1'))
  t.equal(await countStatements(() => ask('GET', '/Users')), one, 'a longer list needs no more statements')
})

t.test('filters of Okta, Entra ID and the RFC', async t => {
  const body = await create({
    userName: 'Filter.Me@example.com',
    externalId: 'Ext-1',
    emails: [{ value: 'fm@x.example' }]
  })
  const found = async (filter: string) => {
    const answer = await ask('GET', `/Users?filter=${encodeURIComponent(filter)}`)
    return answer.status === 200
      ? (answer.body.Resources as { id: string }[]).some(({ id }) => id === body.id)
      : answer.body.scimType
  }
  for (const filter of [
    'userName eq "filter.me@example.com"',
    'USERNAME Eq "FILTER.ME@EXAMPLE.COM"',
    'urn:ietf:params:scim:schemas:core:2.0:User:userName sw "filter."',
    'userName ew "@example.com" and active eq true',
    'externalId eq "Ext-1"',
    'emails.value eq "FM@x.example"',
    'emails[type eq "work" and value co "@x."]',
    'name.familyName pr',
    'not (userName eq "somebody")',
    'userName ne "somebody"',
    'userName eq "nobody" or (active eq "True" and externalId eq "Ext-1")',
    'meta.lastModified gt "2011-05-13T04:42:34Z"',
    `id eq "${body.id}"`
  ]) {
    t.equal(await found(filter), true, filter)
  }
  for (const filter of ['externalId eq "ext-1"', 'active eq false', 'id eq "x"', 'emails.value eq null']) {
    t.equal(await found(filter), false, filter)
  }
  for (const filter of ['userName', 'userName eq', 'password eq "x"', 'constructor pr', 'active gt true', 'id eq "1']) {
    t.equal(await found(filter), 'invalidFilter', filter)
  }
})

t.test('an answer contains the chosen attributes', async t => {
  const { id } = await create()
  const only = await ask('GET', `/Users/${id}?attributes=userName,name.givenName`)
  t.strictSame(Object.keys(only.body).sort(), ['id', 'name', 'schemas', 'userName'])
  t.strictSame(only.body.name, { givenName: 'Test' })
  const without = await ask('GET', `/Users/${id}?excludedAttributes=emails,meta,groups,name.givenName,id`)
  t.notHas(without.body, { emails: [] })
  t.strictSame(Object.keys(without.body.name as object), ['familyName'])
  t.equal(without.body.id, id)
})

t.test('a query may be in the body', async t => {
  const { id, userName } = await create()
  const query = { filter: `userName eq "${userName}"`, attributes: ['userName'], count: 5 }
  const { status, body } = await ask('POST', '/Users/.search', query)
  t.equal(status, 200)
  t.strictSame(body.Resources, [{ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], id, userName }])
  t.match((await ask('POST', '/Groups/.search', { filter: 'displayName eq "nobody"' })).body, { totalResults: 0 })
  t.equal((await ask('POST', '/Users/.search', { filter: 'no filter' })).status, 400)
})

t.test('PUT replaces, and a second identical PUT changes nothing', async t => {
  const body = person()
  const { id } = (await ask('POST', '/Users', body)).body
  const replaced = await ask('PUT', `/Users/${id}`, { ...body, displayName: undefined, name: { formatted: 'Other' } })
  t.equal(replaced.status, 200)
  t.strictSame(replaced.body.name, { formatted: 'Other' })
  t.notOk(replaced.body.displayName)
  t.match(await row('select name from users where id = ?', [id]), { name: 'Other' })
  const audited = await auditOf('user', id)
  t.same(
    (await ask('PUT', `/Users/${id}`, { ...body, displayName: undefined, name: { formatted: 'Other' } })).body,
    replaced.body
  )
  t.strictSame(await auditOf('user', id), audited)
  t.equal((await ask('PUT', '/Users/999999', body)).status, 404)
  t.equal((await ask('PUT', `/Users/${id}`, { emails: [] })).status, 400)
})

t.test('PATCH in the forms of Entra ID', async t => {
  const { id } = await create()
  const change = async (...operations: object[]) => {
    const { status, body } = await patch(ask, `/Users/${id}`, ...operations)
    t.equal(status, 200, JSON.stringify(body))
    return body
  }
  t.match(await change({ op: 'Replace', path: 'displayName', value: 'New' }), { displayName: 'New' })
  t.match(await row('select name from users where id = ?', [id]), { name: 'New' })
  t.match(await change({ op: 'Add', path: 'name.familyName', value: 'Family' }), { name: { familyName: 'Family' } })
  t.match(
    await change({
      op: 'replace',
      value: { displayName: 'Whole', 'name.givenName': 'Key', unknownThing: 1, title: 'x' }
    }),
    { displayName: 'Whole', name: { givenName: 'Key', familyName: 'Family' } }
  )
  t.match(
    await change(
      { op: 'Replace', path: 'emails[type eq "work"].value', value: `moved${made}@example.com` },
      { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Sales' },
      { op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: '1' }
    ),
    { emails: [{ value: `moved${made}@example.com`, type: 'work' }] }
  )
  t.match(await row('select email, email_confirmed_at from users where id = ?', [id]), {
    email: `moved${made}@example.com`,
    email_confirmed_at: null
  })
  t.match(await change({ op: 'Remove', path: 'name.familyName' }), { name: { givenName: 'Key' } })
  t.match(await change({ op: 'Add', path: 'emails[type eq "home"].value', value: 'home@example.com' }), {
    emails: [{ value: `moved${made}@example.com` }]
  })
  t.match(await change({ op: 'Replace', path: 'active', value: 'False' }), { active: false })
  t.match(await change({ op: 'Replace', path: 'active', value: [{ value: 'True' }] }), { active: true })
  t.match(await change({ op: 'replace', path: 'urn:ietf:params:scim:schemas:core:2.0:User:active', value: false }), {
    active: false
  })
  for (const [operation, scimType] of [
    [{ op: 'move', path: 'active', value: true }, 'invalidSyntax'],
    [{ op: 'remove' }, 'noTarget'],
    [{ op: 'replace', path: 'id', value: '1' }, 'mutability'],
    [{ op: 'replace', path: 'groups', value: [] }, 'mutability'],
    [{ op: 'replace', path: 'nothing', value: '1' }, 'invalidPath'],
    [{ op: 'replace', path: '__proto__.polluted', value: '1' }, 'invalidPath'],
    [{ op: 'replace', path: 'constructor', value: '1' }, 'invalidPath'],
    [{ op: 'replace', path: 'userName[', value: '1' }, 'invalidPath'],
    [{ op: 'replace', path: 'emails[type co "fax"].value', value: 'x@example.com' }, 'noTarget'],
    [{ op: 'replace', path: 'emails[type eq', value: '1' }, 'invalidPath'],
    [{ op: 'replace', path: 'active', value: 'no' }, 'invalidValue'],
    [{ op: 'replace', value: 'x' }, 'invalidSyntax']
  ] as const) {
    const answer = await patch(ask, `/Users/${id}`, operation)
    t.match([answer.status, answer.body.scimType], [400, scimType], JSON.stringify(operation))
  }
  t.equal(({} as { polluted?: string }).polluted, undefined)
})

t.test('active: false blocks and ends sessions; true unblocks', async t => {
  const { id } = await create()
  const user = await row<{ username: string }>('select username from users where id = ?', [id])
  const asker = { id: Number(id), username: user?.username ?? '', name: 'x', email: 'x', admin: false, external: false }
  await beginSession({ user: asker, provider: 'okta', factor: null }, { address: '127.0.0.1', userAgent: 'x' })
  t.equal(await sessionsOf(id), 1)
  t.match((await patch(ask, `/Users/${id}`, { op: 'replace', value: { active: false } })).body, { active: false })
  t.equal(await stateOf(id), 'blocked')
  t.equal(await sessionsOf(id), 0)
  t.match((await patch(ask, `/Users/${id}`, { op: 'replace', value: { active: true } })).body, { active: true })
  t.equal(await stateOf(id), 'active')
  t.ok((await auditOf('user', id)).includes('okta scim user.block'))
})

t.test('a block by an administrator stays', async t => {
  const body = person()
  const { id } = (await ask('POST', '/Users', body)).body
  await blockUser(Number(id), someOrigin)
  t.match((await ask('PUT', `/Users/${id}`, body)).body, { active: false })
  t.match((await patch(ask, `/Users/${id}`, { op: 'replace', path: 'active', value: true })).body, { active: false })
  await unblockUser(Number(id), someOrigin)
  t.match((await ask('GET', `/Users/${id}`)).body, { active: true })
  const set = (active: boolean) => patch(ask, `/Users/${id}`, { op: 'replace', path: 'active', value: active })
  await set(false)
  t.match(await row('select block_reason from users where id = ?', [id]), { block_reason: 'scim' })
  await unblockUser(Number(id), someOrigin)
  await blockUser(Number(id), someOrigin)
  t.match((await set(true)).body, { active: false }, 'the later block is by an administrator')
})

t.test('a block replaces the wait for approval', async t => {
  const { id } = await create()
  await execute("update users set state = 'blocked', block_reason = 'pending approval' where id = ?", [id])
  const set = (active: boolean) => patch(ask, `/Users/${id}`, { op: 'replace', path: 'active', value: active })
  t.match((await set(true)).body, { active: false }, 'only an administrator approves')
  t.match((await set(false)).body, { active: false })
  t.match(await row('select block_reason from users where id = ?', [id]), { block_reason: 'scim' })
  const { username } = (await row<{ username: string }>('select username from users where id = ?', [id])) ?? {}
  await t.rejects(approveUser({ id: Number(id), username: username ?? '' }, someOrigin), /does not wait for approval/)
})

t.test('DELETE blocks the account, keeps it, and the same person gets it again', async t => {
  const body = person()
  const { id } = (await ask('POST', '/Users', body)).body
  t.equal((await ask('DELETE', `/Users/${id}`)).status, 204)
  t.equal((await ask('GET', `/Users/${id}`)).status, 404)
  t.equal((await ask('DELETE', `/Users/${id}`)).status, 404)
  t.equal(await stateOf(id), 'blocked')
  const filter = encodeURIComponent(`userName eq "${body.userName}"`)
  t.match((await ask('GET', `/Users?filter=${filter}`)).body, { totalResults: 0 })
  const stranger = await ask('POST', '/Users', { ...body, externalId: 'another person' })
  t.match([stranger.status, stranger.body.scimType], [409, 'uniqueness'], 'the same name is no proof')
  const nameless = await ask('POST', '/Users', { ...body, externalId: undefined })
  t.match([nameless.status, nameless.body.scimType], [409, 'uniqueness'])
  t.match(nameless.body.detail, /send an externalId/)
  const again = await ask('POST', '/Users', body)
  t.match([again.status, again.body], [201, { id, active: true }])
  t.equal(await stateOf(id), 'active')
})

t.test('an account that people made is not taken over by its name or address', async t => {
  const user = await app.make.user()
  const same = { userName: user.username, emails: [{ value: user.email }], externalId: 'mallory' }
  const refused = await ask('POST', '/Users', same)
  t.match([refused.status, refused.body.scimType], [409, 'uniqueness'])
  t.match(refused.body.detail, /identities link USER scim mallory$/)
  t.equal((await ask('GET', `/Users/${user.id}`)).status, 404, 'the directory does not see it')
  for (const method of ['PUT', 'DELETE'] as const) {
    t.equal((await ask(method, `/Users/${user.id}`, method === 'PUT' ? same : undefined)).status, 404)
  }
  const { id } = await create()
  const moved = await patch(ask, `/Users/${id}`, { op: 'replace', path: 'emails', value: [{ value: user.email }] })
  t.match([moved.status, moved.body.scimType], [409, 'uniqueness'])
  await insertIdentities([{ userId: user.id, provider: 'scim', externUid: 'alice' }])
  const stolen = await patch(ask, `/Users/${id}`, { op: 'replace', path: 'externalId', value: 'alice' })
  t.match([stolen.status, stolen.body.scimType], [409, 'uniqueness'])
  const taken = await ask('POST', '/Users', { ...same, externalId: 'alice' })
  t.match([taken.status, taken.body.id], [201, String(user.id)], 'with its identity, the directory manages it')
})

t.test('a directory makes nobody an administrator, and takes nothing from one', async t => {
  const { id } = await create({
    roles: [{ value: 'admin', primary: true }],
    admin: true,
    is_admin: true,
    userType: 'admin'
  })
  await patch(ask, `/Users/${id}`, { op: 'replace', value: { admin: true, roles: ['admin'], isAdmin: true } })
  t.match(await row('select admin from users where id = ?', [id]), { admin: 0 })
  const admin = await app.make.admin()
  await insertIdentities([{ userId: admin.id, provider: 'scim', externUid: `admin${admin.id}` }])
  const adopted = await ask(
    'POST',
    '/Users',
    person({ externalId: `admin${admin.id}`, emails: [{ value: admin.email }] })
  )
  t.equal(adopted.status, 201)
  for (const operation of [
    { op: 'replace', path: 'emails[type eq "work"].value', value: 'mallory@example.com' },
    { op: 'replace', path: 'externalId', value: 'mallory' }
  ]) {
    t.equal((await patch(ask, `/Users/${admin.id}`, operation)).status, 403)
  }
  t.match(await row('select email from users where id = ?', [admin.id]), { email: admin.email })
  const others = await rows<{ id: number }>("select id from users where admin = 1 and state = 'active' and id <> ?", [
    admin.id
  ])
  for (const other of others) await blockUser(other.id, someOrigin)
  t.match(await patch(ask, `/Users/${admin.id}`, { op: 'replace', path: 'active', value: false }), { status: 403 })
  t.match(await ask('DELETE', `/Users/${admin.id}`), { status: 403, body: { status: '403' } })
  t.equal(await stateOf(String(admin.id)), 'active')
  for (const other of others) await unblockUser(other.id, someOrigin)
})

t.test('with a provider, the externalId is the id of the person there', async t => {
  const company = { label: 'Company', issuer: 'https://id.example.org', client_id: 'gitstead' }
  loadConfig({ port: 0, identity: { oidc: { company }, scim: { provider: 'company' } } })
  t.teardown(() => void loadConfig({ port: 0 }))
  const known = await app.make.user()
  await insertIdentities([{ userId: known.id, provider: 'company', externUid: 'signed in before' }])
  const found = await ask(
    'POST',
    '/Users',
    person({ externalId: 'signed in before', emails: [{ value: known.email }] })
  )
  t.match([found.status, found.body.id], [201, String(known.id)])
  const { id } = await create({ externalId: 'new there' })
  t.equal((await findByIdentity('company', 'new there'))?.id, Number(id))
  t.equal(await findByIdentity('scim', 'new there'), undefined)
  await patch(ask, `/Users/${id}`, { op: 'replace', path: 'externalId', value: 'moved there' })
  t.equal((await findByIdentity('company', 'moved there'))?.id, Number(id))
  t.equal(await findByIdentity('company', 'new there'), undefined)
})

t.test('requests that create the same user at once make one', async t => {
  const body = person()
  const answers = await Promise.all(Array.from({ length: 6 }, () => ask('POST', '/Users', body)))
  t.same(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409])
})
