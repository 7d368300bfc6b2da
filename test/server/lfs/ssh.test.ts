// Git LFS with the stock clients over SSH: the client gets a token for HTTP.
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { addDeployKey } from '../../../src/areas/projects/ssh/deploy-keys.js'
import { execute } from '../../../src/db/connect/sql.js'
import { startSsh } from '../../../src/server/ssh/start.js'
import { testApp } from '../../helpers/app.js'
import { originBy } from '../../helpers/factory.js'
import { identityOf, makeIdentity, ssh, sshOptions } from '../ssh-client.js'
import { hashOf, lfsClient, listen, workingCopy } from './client.js'

process.env.GITSTEAD_SSH_PORT = '0'
const app = await testApp(t)
await listen(app)
const server = await startSsh()
if (!server) throw new Error('no SSH server')
t.teardown(() => server.stop())
const { port } = server
const folder = t.testdir()

const clientWith = ({ file }: { readonly file: string }) =>
  lfsClient(folder, {
    GIT_SSH_COMMAND: ['ssh', ...sshOptions(file)].map(word => `'${word}'`).join(' '),
    GIT_SSH_VARIANT: 'ssh'
  })

const project = await app.make.project()
const { owner } = project
const remote = `ssh://git@127.0.0.1:${port}/${project.path}.git`
const bytes = randomBytes(100_000)
const own = await identityOf(folder, owner)
const object = `/${project.path}.git/info/lfs/objects/${hashOf(bytes)}`

t.test('push and clone', async t => {
  const client = await clientWith(own)
  const path = join(folder, 'push')
  await workingCopy(client, path, remote)
  writeFileSync(join(path, 'one.bin'), bytes)
  await client.git(path, 'add', '.')
  await client.git(path, 'commit', '--quiet', '-m', 'Add')
  const pushed = await client.tryGit(path, 'push', 'origin', 'master')
  t.ok(pushed.ok, pushed.stderr)
  await client.git(folder, 'clone', '--quiet', remote, 'clone')
  t.same(readFileSync(join(folder, 'clone/one.bin')), bytes)
})

t.test('a deploy key reads, and writes only if it may', async t => {
  const identity = makeIdentity(folder)
  const key = await addDeployKey(project, { title: 'd', key: identity.publicKey }, originBy(owner))
  const client = await clientWith(identity)
  await client.git(folder, 'clone', '--quiet', remote, 'by-key')
  const path = join(folder, 'by-key')
  t.same(readFileSync(join(path, 'one.bin')), bytes)
  await client.git(path, 'lfs', 'install', '--local')
  writeFileSync(join(path, 'two.bin'), randomBytes(100))
  await client.git(path, 'add', '.')
  await client.git(path, 'commit', '--quiet', '-m', 'Add')
  t.match(await client.tryGit(path, 'push', 'origin', 'master:key'), { ok: false, stderr: /not allowed to push/ })
  await execute('update deploy_keys set can_push = 1 where id = ?', [key.id])
  const pushed = await client.tryGit(path, 'push', 'origin', 'master:key')
  t.ok(pushed.ok, pushed.stderr)
})

t.test('who gets a token', async t => {
  const ask = async (file: string, command: string) => {
    const { code, stdout, stderr } = await ssh(port, file, [command])
    return code === 0 ? JSON.parse(stdout) : `${code} ${stderr}`
  }
  const command = (operation: string) => `git-lfs-authenticate ${project.path}.git ${operation}`
  t.match(await ask(own.file, command('upload')), {
    href: new RegExp(`^http://127.0.0.1:\\d+/${project.path}.git/info/lfs$`),
    header: { Authorization: /^RemoteAuth \S+$/ },
    expires_in: Number,
    expires_at: /Z$/
  })
  t.match(await ask(own.file, `git-lfs-authenticate '/${project.path}.git' download ${'a'.repeat(64)}`), {
    href: String
  })
  for (const wrong of ['', 'delete', 'upload x', 'upload; id', 'upload $(id)']) {
    t.match(await ask(own.file, command(wrong)), /^128 /, wrong)
  }
  const stranger = await identityOf(folder, await app.make.user())
  t.match(await ask(stranger.file, command('download')), /does not exist, or you may not see it/)
  const reporter = await app.make.user()
  await app.make.member(project, 20, reporter)
  const read = await identityOf(folder, reporter)
  t.match(await ask(read.file, command('download')), { href: String })
  t.match(await ask(read.file, command('upload')), /not allowed to push/)
  const { header } = await ask(own.file, command('download'))
  const get = async () =>
    (await app.fastify.inject({ url: object, headers: { authorization: header.Authorization } })).statusCode
  t.equal(await get(), 200)
  await execute("update ssh_keys set fingerprint = concat('x', substr(fingerprint, 2)) where user_id = ?", [owner.id])
  t.equal(await get(), 401, 'the key no longer exists')
  await execute('update projects set lfs_enabled = 0 where id = ?', [project.id])
  t.match(await ask(read.file, command('download')), /Git LFS is switched off/)
})
