import { rows } from '../../src/db/connect/sql.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory } from '../helpers/factory.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (args: readonly string[], input = '') => cli(['mirrors', ...args], { environment, input })

t.test('mirrors are added, listed, changed, run and removed', async t => {
  const { path, owner } = await factory.project()
  const url = 'https://git.example.org/engine.git'
  const pulled = await run(['add', path, url, '--pull', '--owner', owner.username, '--no-enabled', '--json'])
  t.equal(pulled.code, 0, pulled.stderr)
  t.match(pulled.json(), { direction: 'pull', url, run_as: owner.username, hook_token: /^.{20}$/, hook_url: /\/hook$/ })
  const again = await run(['add', path, url, '--pull', '--owner', owner.username])
  t.match(again, { code: 2, stderr: /already follows a remote/ })
  const push = [
    'add',
    path,
    url,
    '--push',
    '--owner',
    owner.username,
    '--username',
    'ada',
    '--password-stdin',
    '--json'
  ]
  const added = await run([...push, '--branches', 'main', '--branches', 'release/*', '--no-enabled'], 'a secret word\n')
  const id = String(added.json().id)
  t.match(added.json(), { has_password: true, branch_patterns: ['main', 'release/*'], state: 'disabled' })
  t.notMatch(added.stdout, 'secret word')
  t.notMatch(JSON.stringify(await rows('select * from audit_events')), 'secret word')

  t.match(await run(['list', path]), { code: 0, stdout: /pull +https.*disabled(.|\n)*push/ })
  t.match((await run(['list', '--limit', '1', '--json'])).json(), { total: 2, mirrors: [{ direction: 'pull' }] })
  t.match(await run(['show', id]), { code: 0, stdout: /branch_patterns: main release\/\*/ })
  t.match(await run(['sync', id]), { code: 2, stderr: /switched off/ })

  const ssh = ['update', id, '--url', 'git@git.example.org:ada/engine.git', '--interval', '30', '--enabled', '--json']
  t.match((await run(ssh)).json(), {
    ssh_public_key: /^ssh-ed25519 /,
    has_password: false,
    interval: 30,
    enabled: true
  })
  const key = `SHA256:${'x'.repeat(43)}`
  t.match((await run(['update', id, '--host-key', key, '--json'])).json(), { ssh_host_key: key })
  t.match(await run(['sync', id, '--json']), { code: 0 })
  t.match(await rows("select name from jobs where name = 'mirror.run'"), [{ name: 'mirror.run' }])

  t.match(await run(['remove', id]), { code: 2 })
  t.match((await run(['remove', id, '--dry-run', '--json'])).stdout, /would_delete/)
  t.match(await run(['remove', id, '--yes']), { code: 0, stdout: /removed mirror/ })
  t.match(await run(['show', id]), { code: 3, stderr: /no mirror has the number/ })
})

t.test('mirrors refuse bad values', async t => {
  const { path } = await factory.project()
  const stranger = await factory.user()
  const url = 'https://git.example.org/engine.git'
  t.match(await run(['add', path, url, '--pull', '--owner', 'nobody-here']), { code: 3, stderr: /active user/ })
  t.match(await run(['add', path, url, '--pull', '--owner', stranger.username]), { code: 2, stderr: /master/ })
  t.match(await run(['add', path, url, '--owner', stranger.username]), { code: 2 })
  t.match(await run(['add', 'no/such', url, '--pull', '--owner', stranger.username]), { code: 3 })
  const wrong = ['add', path, 'file:///etc', '--push', '--owner', stranger.username]
  t.equal((await run(wrong)).code, 2)
})
