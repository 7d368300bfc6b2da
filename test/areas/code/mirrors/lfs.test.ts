// Mirrors carry the files in LFS, over HTTP and SSH, before the commits that name them.
import t from 'tap'
import { addKey } from '../../../../src/areas/people/users/keys.js'
import { config, loadConfig } from '../../../../src/config.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { startSsh } from '../../../../src/server/ssh/start.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin, type TestProject } from '../../../helpers/factory.js'
import { listen } from '../../../server/lfs/client.js'
import { addLfsFile, lfsContents, pointerOf } from '../../projects/lfs/pointer-files.js'

const app = await testApp(t)
const { home } = config()
loadConfig({ home, port: 0, ssh: { port: 0 }, hooks: { allow: ['127.0.0.1'] } })
const address = await listen(app)
const ssh = await startSsh()
if (!ssh) throw new Error('no SSH server')
t.teardown(async () => {
  app.fastify.server.closeAllConnections()
  await ssh.stop()
  loadConfig({ home })
})

const urlOf = ({ path, owner }: TestProject) =>
  `${address.replace('//', `//${owner.username}:${owner.password}@`)}/${path}.git`
const by = ({ owner }: TestProject) => app.as(owner)
const branchOf = async (project: TestProject) =>
  (await by(project).get(`/projects/${project.id}/repository/branches/master`)).json().commit?.message
async function ran(project: TestProject, path: string, runs = path) {
  await execute('update mirrors set started_at = started_at - interval 1 hour')
  await by(project).post(`/projects/${project.id}/${runs}`)
  await app.runJobs()
  return (await by(project).get(`/projects/${project.id}/${path}`)).json()
}

t.test('a pull mirror brings the objects of new commits', async t => {
  const source = await app.make.project()
  const first = await addLfsFile(app, source, 'one.bin', 'one')
  const project = await app.make.project()
  const pull = 'mirror/pull'
  t.equal((await by(project).put(`/projects/${project.id}/${pull}`, { url: urlOf(source) })).statusCode, 200)
  t.match(await ran(project, pull), { state: 'succeeded' })
  t.same(await lfsContents(project, [first]), ['one'])
  const second = await addLfsFile(app, source, 'two.bin', 'two')
  t.match(await ran(project, pull), { state: 'succeeded' })
  t.same(await lfsContents(project, [first, second]), ['one', 'two'])
  await app.make.file(source, 'huge.bin', pointerOf('a'.repeat(64), 1e14))
  t.match(await ran(project, pull), { state: 'failed', last_problem: 'too_large', last_error: /lfs\.max_object_size/ })
  t.not(await branchOf(project), await branchOf(source), 'the commit without its file stays away')
})

t.test('a pull mirror asks the server that .lfsconfig names', async t => {
  const [source, other] = [await app.make.project(), await app.make.project({ visibility_level: 20 })]
  const oid = await addLfsFile(app, other, 'one.bin', 'elsewhere')
  await app.make.file(source, '.lfsconfig', `[lfs]\n\turl = ${address}/${other.path}.git/info/lfs\n`)
  await app.make.file(source, 'one.bin', pointerOf(oid, 9))
  const project = await app.make.project()
  await by(project).put(`/projects/${project.id}/mirror/pull`, { url: urlOf(source) })
  t.match(await ran(project, 'mirror/pull'), { state: 'succeeded' })
  t.same(await lfsContents(project, [oid]), ['elsewhere'])
})

t.test('a push mirror gives the objects first', async t => {
  const [source, target] = [await app.make.project(), await app.make.project()]
  const first = await addLfsFile(app, source, 'one.bin', 'one')
  const made = await by(source).post(`/projects/${source.id}/remote_mirrors`, { url: urlOf(target) })
  const path = `remote_mirrors/${made.json().id}`
  t.match(await ran(source, path, `${path}/sync`), { state: 'succeeded' })
  t.same(await lfsContents(target, [first]), ['one'])
  await by(target).put(`/projects/${target.id}`, { lfs_enabled: false })
  const second = await addLfsFile(app, source, 'two.bin', 'two')
  t.match(await ran(source, path, `${path}/sync`), { state: 'failed', last_problem: 'lfs_failed', last_error: /501/ })
  await by(target).put(`/projects/${target.id}`, { lfs_enabled: true })
  t.match(await ran(source, path, `${path}/sync`), { state: 'succeeded' })
  t.same(await lfsContents(target, [second]), ['two'])
})

t.test('over SSH, the server says where its LFS is', async t => {
  const [source, target, follower] = [await app.make.project(), await app.make.project(), await app.make.project()]
  const oid = await addLfsFile(app, source, 'one.bin', 'over SSH')
  const url = `ssh://git@127.0.0.1:${ssh.port}/${target.path}.git`
  const made = (await by(source).post(`/projects/${source.id}/remote_mirrors`, { url })).json()
  const path = `remote_mirrors/${made.id}`
  await addKey(target.owner, { title: 'push', key: made.ssh_public_key }, someOrigin)
  await app.runJobs()
  const { ssh_host_key_seen: ssh_host_key } = (await by(source).get(`/projects/${source.id}/${path}`)).json()
  await by(source).put(`/projects/${source.id}/${path}`, { ssh_host_key })
  t.match(await ran(source, path, `${path}/sync`), { state: 'succeeded', last_error: null })
  t.same(await lfsContents(target, [oid]), ['over SSH'])
  const pull = `/projects/${follower.id}/mirror/pull`
  const pulled = (await by(follower).put(pull, { url, ssh_host_key })).json()
  await addKey(target.owner, { title: 'pull', key: pulled.ssh_public_key }, someOrigin)
  t.match(await ran(follower, 'mirror/pull'), { state: 'succeeded', last_error: null })
  t.same(await lfsContents(follower, [oid]), ['over SSH'])
})
