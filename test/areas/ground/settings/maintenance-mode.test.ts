// Maintenance mode: reads still work, writes and pushes are refused with the message.
import { execFile } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { nobody, originOf } from '../../../../src/access/actor.js'
import { maintenanceMode, setMaintenanceMode } from '../../../../src/areas/ground/settings/maintenance-mode.js'
import { row } from '../../../../src/db/connect/sql.js'
import { Invalid } from '../../../../src/errors.js'
import { testApp } from '../../../helpers/app.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

const MESSAGE = 'Moving to new disks (größer) until 21:00'
const origin = originOf(nobody, null)
const git = promisify(execFile)

const app = await testApp(t)
const owner = await app.make.user()
const project = await app.make.project({ owner })
const asker = app.as(owner)
await app.fastify.listen({ port: 0, host: '127.0.0.1' })
const { port } = app.fastify.server.address() as AddressInfo
const url = `http://x:${owner.privateToken}@127.0.0.1:${port}/${project.path}.git`

t.test('while it is on', async t => {
  t.equal(await setMaintenanceMode(MESSAGE, origin), true)
  t.equal(await setMaintenanceMode(` ${MESSAGE} `, origin), false, 'the same message changes nothing')

  for (const refused of [
    await asker.post('/projects', { name: 'later' }),
    await asker.put(`/users/${owner.id}`, { name: 'Later' })
  ]) {
    t.equal(refused.statusCode, 503)
    t.same(refused.json(), { message: `503 Service Unavailable - ${MESSAGE}` })
    t.equal(refused.headers['retry-after'], '60')
  }
  t.notOk(await row("select id from projects where name = 'later'"), 'nothing is made')

  t.equal((await asker.get('/projects')).statusCode, 200)
  t.equal(
    (await app.nobody.post('/session', { login: 'nobody', password: 'wrong' })).statusCode,
    401,
    'signing in still works'
  )
  t.equal((await app.nobody.post('/no/such/path')).statusCode, 404)
  const byRunner = async (url: string) =>
    (await app.nobody.inject({ method: 'POST', url, payload: { token: 'wrong' } })).statusCode
  t.equal(await byRunner('/api/v4/jobs/request'), 403, 'builds continue')
  t.equal(await byRunner('/ci/api/v1/builds/register.json'), 403)
  t.equal(await byRunner('/api/v4/runners'), 503)

  await git('git', ['ls-remote', url])
  const folder = t.testdir()
  await git('git', ['clone', '--quiet', url, folder])
  const identity = ['-c', 'user.name=A', '-c', 'user.email=a@example.org']
  await git('git', ['-C', folder, ...identity, 'commit', '--quiet', '--allow-empty', '-m', 'later'])
  const push = () => git('git', ['-C', folder, 'push', '--quiet', 'origin', 'HEAD:refs/heads/later'])
  await t.rejects(push(), new RegExp(`remote: ${MESSAGE.replace(/[()]/g, '.')}`), 'git shows the message')

  t.equal(await setMaintenanceMode(null, origin), true)
  t.equal(await setMaintenanceMode(null, origin), false)
  await push()
  t.equal((await asker.post('/projects', { name: 'later' })).statusCode, 201)
})

t.test('its cost', async t => {
  const statements = await countStatements(() => asker.get(`/projects/${project.id}`))
  t.equal(statements, 1, 'reads ask for nothing more')
})

t.test('the message', async t => {
  await t.rejects(async () => setMaintenanceMode(' ', origin), Invalid)
  await t.rejects(async () => setMaintenanceMode('x'.repeat(1001), origin), Invalid)
  t.equal(await maintenanceMode(), null)
  const audited = await row<{ changes: string }>("select changes from audit_events where action = 'maintenance.on'")
  t.same(JSON.parse(audited?.changes ?? ''), { message: { before: null, after: MESSAGE } })
})
