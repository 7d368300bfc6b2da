// What a stranger, another token and a hostile directory can do.

import { createScimToken, revokeScimToken } from '../../../../src/areas/people/scim/scim-tokens.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { directory } from './directory.js'

const app = await testApp(t)

const get = async (headers: Record<string, string>, url = '/scim/v2/Users') =>
  (await app.nobody.inject({ url, headers })).statusCode

t.test('wrong paths and methods are named, for those with a token', async t => {
  const ask = await directory(app)
  for (const path of ['/Me', '/.search']) t.equal((await ask('POST', path, {})).status, 501, path)
  const wrong = await ask('DELETE', '/Users')
  t.match([wrong.status, wrong.headers.allow], [405, 'GET, POST'])
  t.match(wrong.body, { status: '405', schemas: [/Error$/] })
  t.match((await ask('POST', '/Groups/1', {})).headers.allow, 'GET, PUT, PATCH, DELETE')
  t.equal((await ask('PUT', '/Schemas', {})).headers.allow, 'GET')
  t.match((await ask('GET', '/Nothing')).body, { status: '404', detail: 'No such resource' })
  t.equal((await app.nobody.inject({ url: '/scim/v2/Nothing' })).statusCode, 401)
})

t.test('only the token of a directory opens SCIM, and it opens nothing else', async t => {
  const admin = await app.make.admin()
  const { row: made, token } = await createScimToken({ name: 'entra' }, someOrigin)
  const bearer = { authorization: `Bearer ${token}` }
  t.equal(await get({}), 401)
  t.equal(await get({ authorization: `Bearer ${admin.privateToken}` }), 401)
  t.equal(await get({ 'private-token': admin.privateToken }), 401)
  t.equal(await get({}, `/scim/v2/Users?private_token=${admin.privateToken}`), 401)
  t.equal(await get({ authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` }), 401)
  t.equal(await get({ 'private-token': token }), 401)
  t.equal(await get(bearer), 200)
  t.ok(await row('select 1 as used from scim_tokens where id = ? and last_used_at is not null', [made.id]))
  for (const headers of [bearer, { 'private-token': token }, { authorization: `Basic ${btoa(`x:${token}`)}` }]) {
    t.equal(await get(headers, '/api/v3/user'), 401)
    t.equal(await get(headers, '/api/v3/users'), 401)
  }
  t.equal(await get(bearer, '/-/metrics'), 401)
  const stored = await row<{ token_hash: Buffer }>('select token_hash from scim_tokens where id = ?', [made.id])
  t.notOk(stored?.token_hash.includes(token))
  const refused = await app.nobody.inject({ url: '/scim/v2/Users', headers: { authorization: 'Bearer wrong' } })
  t.match(refused.json(), { status: '401', schemas: [/Error$/] })
  t.match(refused.headers['www-authenticate'], /^Bearer/)
  t.notMatch(refused.body, /wrong[^,]*"wrong/)
  await execute('update scim_tokens set expires_at = ? where id = ?', [new Date(Date.now() - 1000), made.id])
  t.equal(await get(bearer), 401, 'expired')
  await execute('update scim_tokens set expires_at = null where id = ?', [made.id])
  t.equal(await get(bearer), 200)
  await revokeScimToken(made.id, someOrigin)
  t.equal(await get(bearer), 401, 'revoked')
})

t.test('a body is read only for a known token', async t => {
  const answer = await app.nobody.inject({
    method: 'POST',
    url: '/scim/v2/Users',
    headers: { authorization: 'Bearer wrong', 'content-type': 'application/scim+json' },
    payload: '{'
  })
  t.equal(answer.statusCode, 401)
})

t.test('filters that would take long are refused at once', async t => {
  const ask = await directory(app)
  const bombs = [
    `userName eq "${'\n'.repeat(60)}`,
    `${'('.repeat(500)}userName pr${')'.repeat(500)}`,
    `${'not '.repeat(400)}userName pr`,
    `${'not ('.repeat(300)}userName pr${')'.repeat(300)}`,
    Array.from({ length: 100 }, () => 'userName pr').join(' or '),
    `${'emails['.repeat(200)}value pr`,
    `userName eq "${'x'.repeat(3000)}"`,
    'emails[emails[value eq "x"]]',
    `userName eq "\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\`
  ]
  for (const filter of bombs) {
    const { status, body } = await ask('GET', `/Users?filter=${encodeURIComponent(filter)}`)
    t.match([status, body.scimType], [400, 'invalidFilter'], filter.slice(0, 40))
  }
  t.equal((await ask('GET', `/Users?filter=${encodeURIComponent(`userName eq "' or 1=1 -- "`)}`)).body.totalResults, 0)
  t.equal(
    (await ask('GET', `/Users?filter=${encodeURIComponent('userName eq "a" or id eq "1) or (1=1"')}`)).body
      .totalResults,
    0
  )
})

t.test('large and odd bodies are refused', async t => {
  const ask = await directory(app)
  t.equal((await ask('POST', '/Users', { userName: 'x', emails: 'x'.repeat(5_000_000) })).status, 413)
  t.equal(
    (
      await ask('POST', '/Groups', {
        displayName: 'x',
        members: Array.from({ length: 10_001 }, () => ({ value: '1' }))
      })
    ).status,
    400
  )
  for (const payload of [[], [{ op: 'add' }]]) t.equal((await ask('POST', '/Users', payload)).status, 400)
  t.equal((await ask('PATCH', '/Users/1', { Operations: 'x' })).status, 400)
  t.equal((await ask('PATCH', '/Users/1', {})).status, 400)
  const proto = JSON.parse(
    '{"__proto__": {"admin": true}, "constructor": {"prototype": {"x": 1}}, "userName": "p@example.com"}'
  )
  t.equal((await ask('POST', '/Users', proto)).status, 201)
  t.equal(({} as { x?: number }).x, undefined)
  const core = '{"urn:ietf:params:scim:schemas:core:2.0:User":'
  const deep = JSON.parse(`${core.repeat(20_000)}{"userName":"deep"}${'}'.repeat(20_000)}`)
  t.equal((await ask('POST', '/Users', deep)).status, 400)
  t.equal(
    (await ask('POST', '/Users', { 'urn:ietf:params:scim:schemas:core:2.0:User': { userName: 'd@example.com' } }))
      .status,
    201
  )
})
