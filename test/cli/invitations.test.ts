// Tests the commands for invitations, as scripts use them.
import { rows } from '../../src/db/connect/sql.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory } from '../helpers/factory.js'
import t from '../helpers/tap.js'

t.test('invitations are made, listed and withdrawn', async t => {
  const { databaseUrl, home } = await testDatabase()
  const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
  const run = (...args: string[]) => cli(['invitations', ...args], { environment })
  const group = await factory.group()
  const terms = ['--level', 'reporter', '--expires', '2099-01-31']
  const made = await run('create', group.path, 'Ada@example.org', ...terms)
  t.equal(made.stdout, `invited Ada@example.org to group ${group.path} (Reporter, until 2099-01-31)\n`, made.stderr)
  const several = await run('create', group.path, 'bob@example.org', 'nonsense', ...terms, '--json')
  t.not(several.code, 0)
  t.match(several.json(), { results: [{ ok: true, result: { level: 'Reporter' } }, { ok: false }] })
  t.match(
    (await run('list', group.path)).stdout,
    /^ADDRESS +LEVEL +UNTIL +BY +SENT\nbob@example.org +Reporter +2099-01-31 +- /
  )
  t.match((await run('list', group.path, '--json')).json(), {
    invitations: [
      { address: 'bob@example.org', by: null },
      { address: 'Ada@example.org', expires_at: '2099-01-31' }
    ]
  })
  const gone = await run('delete', group.path, 'ada@example.org')
  t.equal(gone.stdout, `withdrew the invitation of Ada@example.org to group ${group.path}\n`)
  t.equal((await run('delete', group.path, 'ada@example.org')).code, 3)
  t.equal((await run('create', 'no-such-group', 'a@example.org', ...terms)).code, 3)
  t.match(await rows("select actor_name, via from audit_events where action like 'invitation.%' limit 1"), [
    { via: 'command' }
  ])
})
