import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execute } from '../../src/db/connect/sql.js'
import { testApp } from '../helpers/app.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (...args: string[]) => cli(['scim', 'tokens', ...args], { environment })

t.test('scim tokens: a token is created, listed and revoked', async t => {
  const app = await testApp(t)
  const status = async (token: string) =>
    (await app.nobody.inject({ url: '/scim/v2/Users', headers: { authorization: `Bearer ${token}` } })).statusCode
  const made = (await run('create', '--name', 'okta', '--expires-in', '365d', '--json')).json() as {
    id: number
    token: string
  }
  t.match(made, { name: 'okta', state: 'active', token: /^[\w-]{40}$/ })
  t.equal(await status(made.token), 200)
  t.match(
    (await run('create', '--name', 'entra')).stdout,
    /does not expire.*\naddress: http.*\/scim\/v2\ntoken: \S+\n$/
  )
  t.equal((await run('create', '--name', ' ')).code, 2)
  t.equal((await run('create', '--name', 'x', '--expires-at', '2020-01-01')).code, 2)
  t.match((await run('list')).stdout, /^\d+ +okta +active +20/m)
  const list = await run('list', '--json')
  t.match(list.json(), {
    tokens: [
      { name: 'entra', expires_at: null },
      { id: made.id, name: 'okta' }
    ]
  })
  t.notMatch(list.stdout, made.token)
  const id = String(made.id)
  t.equal((await run('revoke', id)).code, 2, 'it needs --yes')
  t.match((await run('revoke', id, '--dry-run', '--json')).json(), { would_revoke: { state: 'active' } })
  t.match((await run('revoke', id, '--yes', '--json')).json(), { revoked: { state: 'revoked' } })
  t.equal(await status(made.token), 401)
  t.equal((await run('revoke', '999', '--yes')).code, 3)
})

t.test('doctor names groups that do not exist, and tokens that expire soon', async t => {
  await execute('delete from scim_tokens')
  const check = async (...members: string[]) => {
    writeFileSync(join(home, 'config.yaml'), JSON.stringify({ identity: { scim: { members } } }))
    const { checks } = (await cli(['doctor', '--only', 'scim', '--json'], { environment })).json() as {
      checks: [{ ok: boolean; found: string; details: string[]; remedy: string | null }]
    }
    return checks[0]
  }
  t.match(await check(), { ok: true, found: 'not needed: no directory has a token' })
  await run('create', '--name', 'okta', '--expires-in', '5d')
  const missing = await check('All -> nowhere as guest', 'All -> Nowhere as guest')
  t.match(missing, { ok: false, found: 'no group has the path nowhere', details: [/Nowhere/, /\(okta\) expires on 2/] })
  t.match(await check(), { ok: false, remedy: /scim tokens create/ })
  await run('create', '--name', 'okta')
  t.match(await check(), { ok: true, found: '1 directory with a token' })
})
