import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import { actorOfSession, beginSession, byPassword } from '../../src/areas/people/credentials/credentials.js'
import { listSessions } from '../../src/areas/people/credentials/sessions.js'
import { execute, row, rows } from '../../src/db/connect/sql.js'
import { testApp } from '../helpers/app.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory } from '../helpers/factory.js'
import { startProvider } from '../helpers/oidc-provider.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (...args: string[]) => cli(['identities', ...args], { environment })
const provider = await startProvider(t, 'http://127.0.0.1:9', 'company')
const configure = (changes: object = {}) =>
  writeFileSync(
    join(home, 'config.yaml'),
    stringify({ identity: { oidc: { company: { ...provider.settings, ...changes } } } })
  )
const doctor = async () => {
  const { checks } = (await cli(['doctor', '--only', 'providers', '--json'], { environment })).json() as {
    checks: { name: string; ok: boolean; found: string; details: string[] }[]
  }
  return checks.find(({ name }) => name === 'providers')
}
configure()

t.test('identities are listed, linked and unlinked', async t => {
  await testApp(t)
  const [ada, bob] = [await factory.user({ username: 'ada' }), await factory.user({ username: 'bob' })]
  t.match(await run('link', 'ada', 'company', 'subject-1'), {
    code: 0,
    stdout: 'linked ada with subject-1 at company\n'
  })
  t.match((await run('link', 'ada', 'company', 'subject-1', '--json')).json(), { linked: false })
  t.match((await run('link', 'bob', 'company', 'subject-1', '--json')).json(), {
    error: { code: 'conflict', message: /another user/ }
  })
  t.match(
    (await run('link', 'ada', 'company', 'subject-2')).stderr,
    /ada is already connected with another account at company/
  )
  t.match(await run('link', 'ada', 'compny', 'x'), { code: 3, stderr: /no provider is called "compny"/ })
  t.equal((await run('link', 'ada', 'company', ' ')).code, 2)
  t.equal((await run('link', 'nobody', 'company', 'x')).code, 3)
  await run('link', String(bob.id), 'scim', 'b')
  t.match((await run('list')).stdout, /^ada +company +subject-1\nbob +scim +b$/m)
  t.same((await run('list', 'ada', '--json')).json(), {
    identities: [{ user: 'ada', provider: 'company', extern_uid: 'subject-1' }],
    total: 1
  })
  t.match((await run('list', String(ada.id))).stdout, /subject-1/)
  const browser = { address: '127.0.0.1', userAgent: 'test' }
  await beginSession({ user: { ...ada }, provider: 'company', factor: null }, browser)
  const { cookie } = await beginSession(byPassword({ ...ada }), browser)
  t.match(await run('unlink', 'ada', 'company'), { code: 0, stdout: 'unlinked ada from subject-1 at company\n' })
  t.match(await listSessions(ada.id), { total: 1 }, 'the session that the provider began has ended')
  t.ok(await actorOfSession(cookie))
  t.match(await run('unlink', 'ada', 'company'), { code: 3, stderr: /no identity is called "ada at company"/ })
  t.same((await run('list', 'ada', '--json')).json(), { identities: [], total: 0 })
  t.match(
    await row(
      "select via, changes from audit_events where target_name = 'ada' and action = 'user.update' order by id desc limit 1"
    ),
    { via: 'command', changes: /"identity company":\{"before":"subject-1"\}/ }
  )
})

t.test('what a provider gave ends by command when it has left the configuration', async t => {
  const app = await testApp(t)
  const [user, group] = [await factory.user({ username: 'cleo' }), await app.make.group({ path: 'given' })]
  await execute(
    `insert into members (source_type, source_id, user_id, access_level, provider, created_at, updated_at)
     values ('namespace', ?, ?, 30, 'old', now(), now()), ('namespace', ?, ?, 30, 'company', now(), now())`,
    [group.id, user.id, group.id, (await factory.user()).id]
  )
  await execute(
    `insert into ssh_keys (user_id, title, public_key, fingerprint, provider, created_at) values (?, 'laptop', 'x', 'x', 'old', now())`,
    [user.id]
  )
  const check = async () =>
    ((await cli(['doctor', '--only', 'given_rights', '--json'], { environment })).json() as { checks: object[] }).checks
  t.match(await check(), [{ name: 'given_rights', ok: false, details: ['old: 2'] }])
  t.match(await run('retire', 'company'), { code: 4, stderr: /company is in the configuration/ })
  t.match(await run('retire', 'old', '--dry-run'), {
    code: 0,
    stdout: 'cleo: group given\ncleo: key laptop\nwould take back 2 of old\n'
  })
  t.match((await run('retire', 'old', '--json')).json(), {
    given: [{ user: 'cleo', kind: 'group', name: 'given' }, { kind: 'key' }]
  })
  t.match(await rows('select provider from members where source_id = ? and provider is not null', [group.id]), [
    { provider: 'company' }
  ])
  t.same(await rows('select 1 from ssh_keys'), [])
  t.match(await check(), [{ name: 'given_rights', ok: true }])
})

t.test('doctor tries each provider', async t => {
  configure()
  t.match(await doctor(), { ok: true, found: /^company answers \(1 key, ends sessions\)$/ })
  configure({ issuer: `${provider.issuer}/other` })
  t.match(await doctor(), {
    ok: false,
    found: '1 provider of 1 cannot sign anybody in',
    details: [/^company: .*status code/]
  })
  configure({ issuer: provider.issuer.replace('127.0.0.1', 'localhost') })
  t.match(await doctor(), { ok: false, details: [/^company: .*issuer does not match/] })
  configure({ issuer: 'http://127.0.0.1:4' })
  t.match(await doctor(), { ok: false, details: ['company: no connection to it (ECONNREFUSED)'] })
  writeFileSync(join(home, 'config.yaml'), '')
  t.match(await doctor(), { ok: true, found: /^not needed/ })
})

t.test('doctor finds a wrong clock', async t => {
  const server = createServer((request, response) => {
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const about = {
      issuer,
      authorization_endpoint: `${issuer}/a`,
      token_endpoint: `${issuer}/t`,
      jwks_uri: `${issuer}/k`
    }
    response.setHeader('date', new Date(Date.now() - 3_600_000).toUTCString())
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(request.url === '/k' ? { keys: [{ kty: 'RSA' }] } : about))
  })
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void server.close())
  configure({ issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  t.match(await doctor(), { ok: false, details: [/^company: its clock differs by -(3599|3600|3601) seconds/] })
})
