import { issuePair } from '../../src/areas/people/credentials/oauth/grants.js'
import { createApplication } from '../../src/areas/people/credentials/oauth-applications.js'
import { rows } from '../../src/db/connect/sql.js'
import { testApp } from '../helpers/app.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory, someOrigin } from '../helpers/factory.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const run = (...args: string[]) =>
  cli(['oauth', 'grants', ...args], { environment: { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl } })

t.test('oauth grants: the grants of a user are listed and revoked', async t => {
  const app = await testApp(t)
  const [ada, bob] = [await factory.user({ username: 'ada' }), await factory.user({ username: 'bob' })]
  const { row: client } = await createApplication({ name: 'notes', redirect_uri: 'https://example.org/' }, someOrigin)
  const issue = (userId: number, of: typeof client | null) =>
    issuePair({ client: of, userId, kind: 'password', scopes: ['api'] }, someOrigin)
  const pairs = [await issue(ada.id, client), await issue(ada.id, client), await issue(ada.id, null)]
  const bobs = await issue(bob.id, client)
  const status = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return (await app.nobody.inject({ method: 'GET', url: '/api/v3/user', headers })).statusCode
  }
  t.match((await run('list', 'ada', '--json')).json(), {
    grants: [{ application_id: null }, { application_id: client.id, name: 'notes', scopes: 'api' }],
    total: 2
  })
  t.match((await run('list', 'bob')).stdout, new RegExp(`^${client.id} +notes +api +20`, 'm'))
  const id = String(client.id)
  t.equal((await run('revoke', 'ada', id)).code, 2, 'it needs --yes')
  t.match((await run('revoke', 'ada', id, '--dry-run', '--json')).json(), {
    would_revoke: { application_id: client.id }
  })
  t.equal(await status(pairs[0]?.accessToken ?? ''), 200)
  const revoked = await run('revoke', 'ada', id, '--yes')
  t.match(revoked, { code: 0, stdout: `revoked the access of application ${id} ("notes") to ada\n` })
  const answers = await Promise.all([...pairs, bobs].map(({ accessToken }) => status(accessToken)))
  t.same(answers, [401, 401, 200, 200])
  t.equal((await run('revoke', 'ada', id, '--yes')).code, 3)
  t.match((await run('revoke', 'ada', 'password', '--yes', '--json')).json(), { revoked: { application_id: null } })
  t.match((await run('list', 'ada', '--json')).json(), { grants: [], total: 0 })
  t.equal((await run('revoke', 'ada', 'notes', '--yes')).code, 2)
  t.equal((await run('list', 'ghost')).code, 3)
  const audit = await rows<{ via: string; changes: string }>(
    "select via, changes from audit_events where action = 'oauth.revoke'"
  )
  t.equal(audit.length, 3)
  t.ok(audit.every(({ via, changes }) => via === 'command' && /an administrator revoked the access/.test(changes)))
})
