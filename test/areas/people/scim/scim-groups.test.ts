// Groups of a directory, and the memberships that they give.
import { scimMemberships } from '../../../../src/areas/people/scim/memberships.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { GUEST, MASTER, OWNER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { numbersTo } from '../../../helpers/numbers.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { auditOf, directory, patch, withMembers } from './directory.js'

await withMembers(t, [
  'Engineering -> platform as developer',
  'Leads -> Platform as master',
  'Engineering -> handbook as reporter',
  'Later -> not-yet as developer'
])
const app = await testApp(t)
const ask = await directory(app)
const platform = await app.make.group({ path: 'platform' })
const handbook = await app.make.group({ path: 'handbook' })

const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group'
let made = 0

async function person(): Promise<string> {
  const name = `member${++made}`
  return (await ask('POST', '/Users', { userName: `${name}@example.com`, externalId: name })).body.id
}

const levels = async (group: { id: number }) =>
  new Map(
    (
      await rows<{ user_id: number; access_level: number; provider: string | null }>(
        "select user_id, access_level, provider from members where source_type = 'namespace' and source_id = ?",
        [group.id]
      )
    ).map(({ user_id, access_level, provider }) => [String(user_id), `${access_level} ${provider}`])
  )
const values = (body: Record<string, unknown>) => (body.members as { value: string }[]).map(({ value }) => value)

t.test('a group is created, shown and listed', async t => {
  const [one, two] = [await person(), await person()]
  const { status, body, headers } = await ask('POST', '/Groups', {
    schemas: [GROUP],
    displayName: 'Tour Guides',
    externalId: 'g-1',
    members: [{ value: one, $ref: `https://example.com/v2/Users/${one}`, display: 'x' }, { value: two }]
  })
  t.equal(status, 201)
  t.equal(headers.location, (body.meta as { location: string }).location)
  t.match(body, {
    schemas: [GROUP],
    displayName: 'Tour Guides',
    externalId: 'g-1',
    members: [
      { value: one, type: 'User', display: /^member/, $ref: new RegExp(`/scim/v2/Users/${one}$`) },
      { value: two }
    ]
  })
  t.same((await ask('GET', `/Groups/${body.id}`)).body, body)
  t.match((await ask('GET', `/Users/${one}`)).body, {
    groups: [{ value: body.id, display: 'Tour Guides', type: 'direct' }]
  })
  const filters = [
    'displayName eq "tour guides"',
    'externalId eq "g-1"',
    `members[value eq "${one}"]`,
    `members eq "${two}"`
  ]
  for (const filter of filters) {
    const found = await ask('GET', `/Groups?excludedAttributes=members&filter=${encodeURIComponent(filter)}`)
    t.match(found.body, { totalResults: 1, Resources: [{ id: body.id }] }, filter)
    t.notHas((found.body.Resources as object[])[0], { members: [] })
  }
  t.match((await ask('GET', '/Groups')).body, {
    totalResults: 1,
    Resources: [{ members: [{ value: one }, { value: two }] }]
  })
  const again = await ask('POST', '/Groups', { displayName: 'tour guides' })
  t.match([again.status, again.body.scimType], [409, 'uniqueness'])
  t.strictSame(await auditOf('scim_group', body.id), ['okta scim scim_group.create', 'okta scim scim_group.members'])
  t.equal((await ask('DELETE', `/Groups/${body.id}`)).status, 204)
  t.equal((await ask('GET', `/Groups/${body.id}`)).status, 404)
  t.equal((await rows('select 1 from scim_group_members where group_id = ?', [body.id])).length, 0)
})

t.test('bad input', async t => {
  const outsider = await app.make.user()
  for (const body of [{}, { displayName: '' }, { displayName: 'x', members: [{ value: String(outsider.id) }] }]) {
    const answer = await ask('POST', '/Groups', body)
    t.match([answer.status, answer.body.scimType], [400, 'invalidValue'], JSON.stringify(body))
  }
  for (const members of [[{ value: 'x' }], [{}], [{ value: '999999999' }], 'x']) {
    t.equal((await ask('POST', '/Groups', { displayName: 'y', members })).status, 400, JSON.stringify(members))
  }
  t.match(await row("select count(*) as total from scim_groups where display_name in ('x', 'y')"), { total: 0 })
})

t.test('members change by PATCH, in the forms of Okta, Entra ID and the RFC', async t => {
  const people = [await person(), await person(), await person()]
  const [one = '', two = '', three = ''] = people
  const { id } = (await ask('POST', '/Groups', { displayName: 'Patched' })).body
  const change = async (...operations: object[]) => {
    const { status, body } = await patch(ask, `/Groups/${id}`, ...operations)
    t.equal(status, 200, JSON.stringify(body))
    return values(body)
  }
  t.same(await change({ op: 'Add', path: 'members', value: [{ value: one }, { value: two }] }), [one, two])
  t.same(await change({ op: 'add', path: 'members', value: [{ value: two }] }), [one, two], 'again')
  t.same(await change({ op: 'remove', path: `members[value eq "${one}"]` }), [two])
  t.same(await change({ op: 'remove', path: `members[value eq "${one}"]` }), [two], 'again')
  t.same(await change({ op: 'Remove', path: 'members', value: [{ value: two }] }), [])
  t.same(await change({ op: 'replace', path: 'members', value: [{ value: three }, { value: one }] }), [one, three])
  t.same(await change({ op: 'replace', value: { id, displayName: 'Renamed' } }), [one, three])
  t.match((await ask('GET', `/Groups/${id}`)).body, { displayName: 'Renamed' })
  t.same(
    await change(
      { op: 'add', path: 'members', value: two },
      { op: 'remove', path: `members[value eq "${one}"]` },
      { op: 'replace', path: 'displayName', value: 'Patched' }
    ),
    [two, three]
  )
  t.same(await change({ op: 'remove', path: 'members' }), [])
  t.match(await ask('PUT', `/Groups/${id}`, { displayName: 'Patched', members: [{ value: one }] }), {
    status: 200,
    body: { members: [{ value: one }] }
  })
  const failed = await patch(
    ask,
    `/Groups/${id}`,
    { op: 'add', path: 'members', value: [{ value: two }] },
    { op: 'add', path: 'members', value: [{ value: '999999999' }] }
  )
  t.equal(failed.status, 400)
  t.same(values((await ask('GET', `/Groups/${id}`)).body), [one], 'all operations or none')
  const unknown = await patch(ask, `/Groups/${id}`, {
    op: 'replace',
    path: `members[value eq "${two}"].display`,
    value: 'x'
  })
  t.match([unknown.status, unknown.body.scimType], [400, 'noTarget'])
})

t.test('a mapped group gives memberships, and ends only its own', async t => {
  const [one, two] = [await person(), await person()]
  const own = await app.make.groupMember(platform, MASTER)
  await execute('insert into scim_users (user_id, user_name, created_at, updated_at) values (?, ?, now(), now())', [
    own.id,
    own.username
  ])
  await app.make.groupMember(platform, GUEST, { ...own, id: Number(two) }, '2020-01-01')
  const { id } = (
    await ask('POST', '/Groups', {
      displayName: 'engineering',
      members: [one, two, String(own.id)].map(value => ({ value }))
    })
  ).body
  const given = await levels(platform)
  t.equal(given.get(one), '30 scim')
  t.equal(given.get(two), '30 scim', 'a membership that has ended does not stand in the way')
  t.equal(given.get(String(own.id)), '40 null', 'what people gave stays')
  t.equal((await levels(handbook)).get(one), '20 scim', 'one group of the directory can give several memberships')
  t.ok((await auditOf('group', platform.id)).includes('okta scim member.add'))

  const leads = (await ask('POST', '/Groups', { displayName: 'Leads', members: [{ value: one }] })).body.id
  t.equal((await levels(platform)).get(one), '40 scim', 'the highest level counts')
  await ask('DELETE', `/Groups/${leads}`)
  t.equal((await levels(platform)).get(one), '30 scim')

  await execute(`update members set access_level = ${OWNER} where user_id = ? and source_id = ?`, [one, platform.id])
  await patch(ask, `/Groups/${id}`, { op: 'remove', path: 'members' })
  const left = await levels(platform)
  t.equal(left.get(one), '50 scim', 'a group keeps its owner')
  t.equal(left.get(two), undefined)
  t.equal(left.get(String(own.id)), '40 null')
  t.equal((await levels(handbook)).get(one), undefined)

  await patch(ask, `/Groups/${id}`, { op: 'add', path: 'members', value: [{ value: two }] })
  t.equal((await levels(platform)).get(two), '30 scim')
  await patch(ask, `/Groups/${id}`, { op: 'replace', path: 'displayName', value: 'Former' })
  t.equal((await levels(platform)).get(two), undefined, 'a group with another name gives nothing')
  await patch(ask, `/Groups/${id}`, { op: 'replace', path: 'displayName', value: 'Engineering' })
  t.equal((await levels(platform)).get(two), '30 scim')
  await ask('DELETE', `/Users/${two}`)
  t.equal((await levels(platform)).get(two), undefined, 'so does a user who is deleted')
})

t.test('the task gives what the configuration says now', async t => {
  const one = await person()
  await ask('POST', '/Groups', { displayName: 'Later', members: [{ value: one }] })
  const later = await app.make.group({ path: 'not-yet' })
  t.same(
    [...(await levels(later))].filter(([id]) => id === one),
    []
  )
  const { signal } = new AbortController()
  await scimMemberships.run({ dryRun: false, signal, count: () => undefined, note: () => undefined })
  t.equal((await levels(later)).get(one), '30 scim')
})

t.test('changes at once are all made', async t => {
  const people = await Promise.all(Array.from({ length: 8 }, person))
  const [first = ''] = people
  const named = async (displayName: string) =>
    (await ask('GET', `/Groups?filter=${encodeURIComponent(`displayName eq "${displayName}"`)}`)).body.Resources as [
      { id: string }
    ]
  const [engineers] = await named('Engineering')
  const leads = (await ask('POST', '/Groups', { displayName: 'Leads' })).body
  const add = (id: string, value: string) =>
    patch(ask, `/Groups/${id}`, { op: 'add', path: 'members', value: [{ value }] })
  const answers = await Promise.all([...people.map(value => add(engineers.id, value)), add(leads.id, first)])
  t.ok(answers.every(({ status }) => status === 200))
  const given = await levels(platform)
  t.same(
    people.map(id => given.get(id)),
    ['40 scim', ...people.slice(1).map(() => '30 scim')]
  )
  await ask('DELETE', `/Groups/${leads.id}`)
  t.equal((await levels(platform)).get(first), '30 scim')
})

t.test('thousands of members change at once, and a list stays bounded', async t => {
  const count = 10_000
  const name = 'bulk'
  // Accounts that exist already: creating them is not the question here.
  await execute(
    `insert into users (username, name, email, password_hash, created_at, updated_at)
     select concat('${name}', seq), 'x', concat('${name}', seq, '@example.com'), '!', now(), now() from ${numbersTo(count)}`
  )
  await execute(
    `insert into scim_users (user_id, user_name, created_at, updated_at)
     select id, username, now(), now() from users where username like '${name}%'`
  )
  const ids = (await rows<{ id: number }>(`select id from users where username like '${name}%' order by id`)).map(
    ({ id }) => String(id)
  )
  const members = ids.map(value => ({ value }))
  const { status, body } = await ask('POST', '/Groups', { displayName: 'Leads', members })
  t.equal(status, 201, JSON.stringify(body).slice(0, 200))
  t.equal(values(body).length, count)
  t.equal([...(await levels(platform)).values()].filter(level => level === '40 scim').length, count)
  const extra = await person()
  const tooMany = await patch(ask, `/Groups/${body.id}`, { op: 'add', path: 'members', value: [{ value: extra }] })
  t.match([tooMany.status, tooMany.body.scimType], [400, 'tooMany'])
  const some = ids.slice(0, 1000).map(value => ({ op: 'remove', path: `members[value eq "${value}"]` }))
  t.equal(values((await patch(ask, `/Groups/${body.id}`, ...some)).body).length, count - 1000)
  t.equal((await patch(ask, `/Groups/${body.id}`, ...some, ...some)).status, 400, 'at most 1000 operations')
  const slow = ids.slice(0, 200).map(() => ({ op: 'remove', path: 'members[display co "x"]' }))
  t.match((await patch(ask, `/Groups/${body.id}`, ...slow)).body, { scimType: 'tooMany' })
  const wide = ids.slice(0, 200).map(() => ({ op: 'replace', path: 'members.display', value: 'x' }))
  t.match((await patch(ask, `/Groups/${body.id}`, ...wide)).body, { scimType: 'tooMany' })
  await ask('POST', '/Groups', { displayName: 'B', members })
  await ask('POST', '/Groups', { displayName: 'C', members })
  const list = await ask('GET', '/Groups?sortBy=id&sortOrder=descending')
  t.equal((list.body.Resources as object[]).length, 2)
  t.ok((list.body.totalResults as number) > 2)
  const one = await countStatements(() => ask('GET', '/Groups?count=1'))
  t.equal(await countStatements(() => ask('GET', '/Groups')), one)
})
