import { builtInRunner } from '../../src/areas/ci/runners/built-in-runner.js'
import { registerRunner, requireRunner } from '../../src/areas/ci/runners/external/registration.js'
import { row } from '../../src/db/connect/sql.js'
import { makeRunner } from '../areas/ci/runners/make-runners.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory, someOrigin } from '../helpers/factory.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (...args: string[]) => cli(['runners', ...args], { environment })

t.test('runners are listed, paused, resumed and removed', async t => {
  const { id: builtIn } = await builtInRunner()
  const { id } = await makeRunner({ is_shared: true, tags: ['arm', 'linux'] })
  const active = async () => (await row<{ active: number }>('select active from runners where id = ?', [id]))?.active
  t.match((await run('list')).stdout, /built-in runner .*built-in .*active.*\n.*a runner .*shared .*arm, linux/)
  t.match(JSON.parse((await run('list', '--all', '--json')).stdout), { total: 2, runners: [{ id: builtIn }, { id }] })
  t.match(await run('pause', String(id)), { code: 0, stdout: `paused runner ${id}\n` })
  t.equal(await active(), 0)
  t.match(JSON.parse((await run('list', '--scope', 'paused', '--json')).stdout), { total: 1 })
  t.match(JSON.parse((await run('resume', String(id), '--json')).stdout), { resumed: id, changed: true })
  t.equal(await active(), 1)
  t.match(await run('pause', '999999'), { code: 3, stderr: /no runner has the number 999999/ })
  t.match(await run('remove', String(id), '--dry-run'), { code: 0, stdout: `would remove runner ${id} (` })
  t.match(await run('remove', String(id)), { code: 2 })
  t.match(await run('remove', String(id), '--yes'), { code: 0 })
  t.equal(await active(), undefined)
  t.match(await run('remove', String(builtIn), '--yes'), { code: 4, stderr: /pause it instead/ })
})

t.test('the registration token', async t => {
  const first = (await run('token')).stdout
  t.match(first, /^[\w-]{20}\n$/)
  t.equal((await run('token')).stdout, first)
  t.match(await run('token', '--reset'), { code: 2 })
  const { token } = JSON.parse((await run('token', '--reset', '--yes', '--json')).stdout) as { token: string }
  t.not(`${token}\n`, first)
})

t.test('a registered runner takes builds with the printed token', async t => {
  const { path } = await factory.project()
  const made = await run('register', '--project', path, '--tag', 'arm', '--no-run-untagged', '--json')
  const { id, token } = made.json() as { id: number; token: string }
  t.match(await requireRunner(token), { id, run_untagged: 0, contacted_at: null })
  t.match(await run('register', '--no-run-untagged'), { code: 2, stderr: /can not be empty/ })
  const shared = await run('register', '--description', 'host 1')
  t.match(shared, { code: 0, stdout: /^[\w-]{20}\n$/, stderr: /^registered runner \d+; its token:\n$/ })
  t.equal((await requireRunner(shared.stdout.trim())).is_shared, 1)
})

t.test('the registration token of a project', async t => {
  const { path } = await factory.project()
  const first = (await run('token', '--project', path)).stdout.trim()
  const second = (await run('token', '--project', path, '--reset', '--yes')).stdout.trim()
  t.not(second, first)
  await t.rejects(registerRunner(first, {}, someOrigin), { message: /403/ })
  t.match(await registerRunner(second, {}, someOrigin), { id: Number })
})
