// The commands for people who have lost their second factor.
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beginSession, byPassword } from '../../src/areas/people/credentials/credentials.js'
import { rows } from '../../src/db/connect/sql.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory } from '../helpers/factory.js'
import { mailbox } from '../helpers/mails.js'
import { giveApp } from '../helpers/second-factors.js'
import t from '../helpers/tap.js'

t.test('users two-factor', async t => {
  const { databaseUrl, home: testHome } = await testDatabase()
  const home = join(t.testdir(), 'home')
  mkdirSync(home, { mode: 0o700 })
  copyFileSync(join(testHome, 'secrets.json'), join(home, 'secrets.json'))
  const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
  const run = (...args: string[]) => cli(['users', 'two-factor', ...args], { environment })
  const mails = mailbox()
  const ada = await factory.user({ username: 'ada' })
  const bob = await factory.user({ username: 'bob' })
  await giveApp(ada)
  await mails()
  await beginSession(byPassword({ ...ada }), { address: '127.0.0.1', userAgent: 'test' })
  const shown = await run('show', 'ada', 'bob', '--json')
  t.equal(shown.code, 0, shown.stderr)
  t.match(shown.json(), {
    results: [
      {
        result: {
          username: 'ada',
          two_factor_enabled: true,
          authenticator_app: /^20/,
          passkeys: [],
          recovery_codes: 10
        }
      },
      {
        result: { username: 'bob', two_factor_enabled: false, since: null, authenticator_app: null, recovery_codes: 0 }
      }
    ]
  })
  t.match((await run('show', 'ada')).stdout, /^recovery_codes: 10$/m)
  t.match((await run('reset', 'ada', '--dry-run', '--json')).json(), { username: 'ada', would_reset: true })
  t.equal((await run('reset', 'ada')).code, 2, 'it asks')
  t.equal((await run('reset', 'nobody-here', '--yes')).code, 3)
  const reset = await run('reset', 'ada', '--yes')
  t.match(reset, { code: 0, stdout: 'removed the second factors of user ada\n' })
  for (const table of ['authenticator_apps', 'recovery_codes', 'passkeys', 'sessions'])
    t.same(await rows(`select 1 from ${table} where user_id = ?`, [ada.id]), [], table)
  t.match(await rows("select via, changes from audit_events where action = 'two_factor.reset'"), [
    { via: 'command', changes: /"authenticator_app":\{"before":true\}/ }
  ])
  const [mail, ...more] = await mails()
  t.match(mail, {
    to: ada.email,
    subject: 'All second factors of your account were removed',
    text: /by an administrator/
  })
  t.same(more, [])
  t.match((await run('show', 'ada', '--json')).json(), { two_factor_enabled: false })
  t.match(await run('reset', bob.username, '--yes'), { code: 0, stdout: 'user bob has no second factor\n' })
  t.same(await mails(), [])

  const group = await factory.group()
  const doctor = (groups: string) =>
    cli(['doctor', '--only', 'second_factors', '--json'], {
      environment: { ...environment, GITSTEAD_IDENTITY_TWO_FACTOR_GROUPS: groups }
    })
  t.match((await doctor(group.path.toUpperCase())).json(), { checks: [{ ok: true, found: /^1 group/ }] })
  t.match((await doctor(`${group.path},gone`)).json(), {
    checks: [{ ok: false, found: /names 1 group that does not exist/, details: ['gone'] }]
  })
})
