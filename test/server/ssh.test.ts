// Git over SSH with the stock client: the built-in server, in this process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { deleteKey } from '../../src/areas/people/users/keys.js'
import { addDeployKey } from '../../src/areas/projects/ssh/deploy-keys.js'
import { ensureHostKeys } from '../../src/areas/projects/ssh/host-keys.js'
import { config, loadConfig } from '../../src/config.js'
import { execute, row, rows } from '../../src/db/connect/sql.js'
import { slotCounts } from '../../src/git/process/slots.js'
import { hostKeyPaths } from '../../src/home.js'
import { startSsh } from '../../src/server/ssh/start.js'
import { testApp } from '../helpers/app.js'
import { originBy, type TestProject } from '../helpers/factory.js'
import { until } from '../helpers/until.js'
import { git } from '../scenarios/client.js'
import { gitOverSsh, identityOf, makeIdentity, ssh, sshOptions } from './ssh-client.js'

const app = await testApp(t)
process.env.GITSTEAD_SSH_PORT = '0'
loadConfig({ port: 0 })
const server = await startSsh()
if (!server) throw new Error('no SSH server')
t.teardown(() => server.stop())
const { port } = server
const keys = t.testdir()

const filled = async (values = {}) => {
  const project = await app.make.project(values)
  await app.make.file(project, 'README.md', '# Read me\n')
  return project
}
const urlOf = ({ path }: TestProject) => `ssh://git@127.0.0.1:${port}/${path}.git`

t.test('the host keys are made once, and only their owner can read them', async t => {
  t.equal(hostKeyPaths().length, 2)
  for (const path of hostKeyPaths()) t.equal(statSync(path).mode & 0o777, 0o600)
  t.same(
    ensureHostKeys(),
    hostKeyPaths().map(path => readFileSync(path, 'utf8'))
  )
})

t.test('a client that supports only one kind of host key finds it', async t => {
  const user = await app.make.user()
  const { file } = await identityOf(keys, user)
  for (const kind of ['ssh-ed25519', 'ecdsa-sha2-nistp256']) {
    t.match(await ssh(port, file, ['-T', '-o', `HostKeyAlgorithms=${kind}`]), { code: 0, stderr: /Welcome/ }, kind)
  }
})

const KINDS = [
  ['-t', 'ed25519'],
  ['-t', 'ecdsa', '-b', '256'],
  ['-t', 'ecdsa', '-b', '521'],
  ['-t', 'rsa', '-b', '2048']
]

t.test('every kind of key clones and pushes', async t => {
  const project = await filled()
  for (const kind of KINDS) {
    const identity = await identityOf(keys, project.owner, kind)
    const folder = t.testdir()
    const name = kind.join('').slice(2)
    const cloned = await gitOverSsh(folder, identity, ['clone', '--quiet', urlOf(project), name])
    t.ok(cloned.ok, cloned.stderr)
    writeFileSync(join(folder, name, 'new.txt'), name)
    await git(join(folder, name), ['add', '.'])
    await git(join(folder, name), ['commit', '--quiet', '-m', name])
    const pushed = await gitOverSsh(join(folder, name), identity, ['push', 'origin', 'HEAD'])
    t.ok(pushed.ok, pushed.stderr)
  }
  const changes = await rows('select id from ref_changes where project_id = ? and user_id = ? and source = ?', [
    project.id,
    project.owner.id,
    'push'
  ])
  t.equal(changes.length, KINDS.length)
  t.ok((await row<{ used: Date }>('select max(last_used_at) as used from ssh_keys'))?.used)
})

t.test('every version of the protocol lists, clones, fetches in part, and pushes', async t => {
  const project = await filled()
  const identity = await identityOf(keys, project.owner)
  for (const version of ['0', '1', '2']) {
    const folder = t.testdir()
    const set = ['-c', `protocol.version=${version}`]
    const run = async (cwd: string, ...args: string[]) => {
      const { ok, stdout, stderr } = await gitOverSsh(cwd, identity, [...set, ...args])
      t.ok(ok, `${version} ${args[0]}: ${stderr}`)
      return stdout
    }
    t.match(await run(folder, 'ls-remote', urlOf(project)), /refs\/heads\/master/)
    await run(folder, 'clone', '--quiet', urlOf(project), 'a')
    await run(folder, 'clone', '--quiet', '--depth', '1', urlOf(project), 'shallow')
    await run(folder, 'clone', '--quiet', '--filter=blob:none', urlOf(project), 'partial')
    const a = join(folder, 'a')
    for (const name of ['one', 'two', 'three']) {
      await git(a, ['commit', '--quiet', '--allow-empty', '-m', name])
      await run(a, 'push', '--quiet', 'origin', 'HEAD', `HEAD:refs/heads/v${version}-${name}`)
    }
    await git(join(folder, 'partial'), ['commit', '--quiet', '--allow-empty', '-m', 'own'])
    await run(join(folder, 'partial'), 'fetch', '--quiet', 'origin')
    await run(join(folder, 'shallow'), 'fetch', '--quiet', '--unshallow', 'origin')
    t.equal(await git(join(folder, 'partial'), ['rev-parse', 'origin/master']), await git(a, ['rev-parse', 'HEAD']))
    t.equal(await git(join(folder, 'shallow'), ['rev-parse', '--is-shallow-repository']), 'false')
    // No pack follows, and the client waits for the report with its side of the connection open.
    await run(a, 'push', '--quiet', 'origin', `:refs/heads/v${version}-one`, `:refs/heads/v${version}-two`)
    t.match(await run(a, 'push', 'origin', 'HEAD'), '', 'nothing to change')
  }
  await until('no process left', () => slotCounts().running === 0)
})

t.test('an empty repository is cloned and gets its first push', async t => {
  const project = await app.make.project()
  const identity = await identityOf(keys, project.owner)
  const folder = t.testdir()
  for (const version of ['0', '2']) {
    const cloned = await gitOverSsh(folder, identity, [
      '-c',
      `protocol.version=${version}`,
      'clone',
      urlOf(project),
      `e${version}`
    ])
    t.ok(cloned.ok, cloned.stderr)
  }
  await git(join(folder, 'e2'), ['commit', '--quiet', '--allow-empty', '-m', 'first'])
  t.ok((await gitOverSsh(join(folder, 'e2'), identity, ['push', 'origin', 'HEAD:master'])).ok)
  t.ok((await gitOverSsh(folder, identity, ['clone', urlOf(project), 'again'])).ok)
  t.ok(existsSync(join(folder, 'again/.git/refs/heads/master')))
})

t.test('ssh without a command shows a greeting, and nothing else', async t => {
  const user = await app.make.user()
  const { file } = await identityOf(keys, user)
  const greeting = await ssh(port, file, ['-T'])
  t.match(greeting, { code: 0, stdout: '', stderr: new RegExp(`Welcome to Gitstead, ${user.username}!`) })
  t.match(await ssh(port, file, ['-T'], 'root'), { code: 128, stderr: /log in as git, not as "root"/ })
  const project = await filled({ owner: user })
  const words = [
    'id',
    'git-upload-pack',
    `git-upload-pack --upload-pack=id '${project.path}.git'`,
    `git-upload-pack '--strict' '${project.path}.git'`,
    `git-upload-pack '${project.path}.git'; id`,
    `git-upload-pack '${project.path}.git' && id`,
    '$(id)',
    'git-upload-pack `id`',
    `git-upload-archive '${project.path}.git'`,
    `git-shell -c "git-upload-pack '${project.path}'"`,
    `scp -f ${project.path}`,
    `git-upload-pack ${'a'.repeat(10_000)}`
  ]
  for (const word of words) {
    t.match(
      await ssh(port, file, [word]),
      { code: 128, stdout: '', stderr: /^gitstead: (this server runs only git|git archive)/ },
      word
    )
  }
  const paths = [
    '../../secrets.json',
    `${project.path}/../../x`,
    '-oProxyCommand=id',
    '--upload-pack=id',
    '%2e%2e/x',
    String(project.id),
    '/',
    'a\u0001/b',
    `${project.path}/info/refs`
  ]
  for (const path of paths) {
    t.match(
      await ssh(port, file, [`git-upload-pack '${path}'`]),
      { code: 128, stdout: '', stderr: /does not exist/ },
      path
    )
  }
  t.match(await ssh(port, file, ['-W', '127.0.0.1:80']), { stderr: /prohibited|refused|failed/i })
  t.match(await ssh(port, file, ['-s', 'sftp']), { stderr: /subsystem request failed/ })
  t.match(await ssh(port, file, ['-N', '-R', '0:127.0.0.1:80', '-o', 'ExitOnForwardFailure=yes']), {
    stderr: /forwarding failed/
  })
})

t.test('the rights of users', async t => {
  const project = await filled()
  const open = await filled({ visibility_level: 20 })
  const folder = t.testdir()
  const asks = async (file: string, service: string, to = project) => ssh(port, file, [`${service} '${to.path}.git'`])
  const levels = [10, 20, 30] as const
  const [guest, reporter, developer] = await Promise.all(
    levels.map(async level => identityOf(keys, await app.make.member(project, level)))
  )
  const stranger = await identityOf(keys, await app.make.user())
  const expired = await identityOf(keys, await app.make.member(project, 40, await app.make.user(), '2020-01-01'))
  const unknown = makeIdentity(keys)
  for (const nobody of [stranger, expired]) {
    t.match(await asks(nobody.file, 'git-upload-pack'), { code: 128, stderr: /does not exist, or you may not see it/ })
    t.match(await asks(nobody.file, 'git-receive-pack'), { code: 128, stderr: /does not exist, or you may not see it/ })
    t.match(await asks(nobody.file, 'git-upload-pack', open), { code: 0 })
    t.match(await asks(nobody.file, 'git-receive-pack', open), { code: 128, stderr: /not allowed to push code/ })
  }
  t.match(await asks(guest?.file ?? '', 'git-upload-pack'), { code: 128, stderr: /you may not do this/ })
  t.match(await asks(reporter?.file ?? '', 'git-upload-pack'), { code: 0 })
  t.match(await asks(reporter?.file ?? '', 'git-receive-pack'), { code: 128, stderr: /not allowed to push code/ })
  t.match(await asks(developer?.file ?? '', 'git-receive-pack'), { code: 0 })
  t.match(await asks(unknown.file, 'git-upload-pack', open), { code: 255, stderr: /Permission denied \(publickey\)/ })
  t.notOk((await gitOverSsh(folder, unknown, ['clone', urlOf(open), 'x'])).ok)
})

t.test('a blocked user and a removed key lose their access', async t => {
  const project = await filled()
  const { file, publicKey } = await identityOf(keys, project.owner)
  const ask = () => ssh(port, file, [`git-upload-pack '${project.path}'`])
  t.match(await ask(), { code: 0 })
  await execute("update users set state = 'blocked' where id = ?", [project.owner.id])
  t.match(await ask(), { code: 255, stderr: /Permission denied/ })
  await execute("update users set state = 'active' where id = ?", [project.owner.id])
  t.match(await ask(), { code: 0 })
  const key = await row<{ id: number }>('select id from ssh_keys where public_key = ?', [publicKey])
  await deleteKey(project.owner, key?.id ?? 0, originBy(project.owner))
  t.match(await ask(), { code: 255, stderr: /Permission denied/ })
})

t.test('a running fetch ends when its user may no longer read the project', async t => {
  const project = await filled({ visibility_level: 0 })
  const member = await app.make.member(project, 20)
  const { file } = await identityOf(keys, member)
  // Nothing ends the input: the client has seen the refs, and may request objects at any time.
  const command = [...sshOptions(file), '-p', String(port), 'git@127.0.0.1', `git-upload-pack '${project.path}'`]
  const child = spawn('ssh', command, { stdio: ['pipe', 'pipe', 'ignore'], timeout: 60_000 })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  await execute("delete from members where source_type = 'project' and source_id = ? and user_id = ?", [
    project.id,
    member.id
  ])
  const [code] = await ended
  t.not(code, 0)
  t.equal(slotCounts().running, 0)
})

t.test('deploy keys', async t => {
  const [project, other] = [await filled(), await filled()]
  const [reads, writes] = [makeIdentity(keys), makeIdentity(keys)]
  const add = (key: string, can_push: boolean) =>
    addDeployKey(project, { title: 'd', key, can_push }, originBy(project.owner))
  await add(reads.publicKey, false)
  const { id } = await add(writes.publicKey, true)
  const folder = t.testdir()
  t.ok((await gitOverSsh(folder, reads, ['clone', '--quiet', urlOf(project), 'a'])).ok)
  await git(join(folder, 'a'), ['commit', '--quiet', '--allow-empty', '-m', 'next'])
  const refused = await gitOverSsh(join(folder, 'a'), reads, ['push', 'origin', 'HEAD'])
  t.match(refused, { ok: false, stderr: /You are not allowed to push code to this project/ })
  const pushed = await gitOverSsh(join(folder, 'a'), writes, ['push', 'origin', 'HEAD'])
  t.ok(pushed.ok, pushed.stderr)
  t.match(await row('select user_id from ref_changes where project_id = ? order by id desc limit 1', [project.id]), {
    user_id: project.owner.id
  })
  for (const { file } of [reads, writes]) {
    t.match(await ssh(port, file, [`git-upload-pack '${other.path}'`]), { code: 128, stderr: /does not exist/ })
    t.match(await ssh(port, file, [`git-receive-pack '${other.path}'`]), { code: 128, stderr: /does not exist/ })
  }
  t.match(await ssh(port, writes.file, ['-T']), {
    code: 0,
    stderr: new RegExp(`Welcome to Gitstead, deploy key ${id}`)
  })
  // A push with the key of a user who may no longer push has no author: its builds must not read what the user can read.
  await execute('update deploy_keys set user_id = ? where id = ?', [(await app.make.user()).id, id])
  await git(join(folder, 'a'), ['commit', '--quiet', '--allow-empty', '-m', 'next'])
  t.ok((await gitOverSsh(join(folder, 'a'), writes, ['push', 'origin', 'HEAD'])).ok)
  t.match(await row('select user_id from ref_changes where project_id = ? order by id desc limit 1', [project.id]), {
    user_id: null
  })
  await execute('update projects set archived = 1 where id = ?', [project.id])
  t.match(await ssh(port, writes.file, [`git-receive-pack '${project.path}'`]), {
    code: 128,
    stderr: /the project is archived and refuses pushes/
  })
  t.ok((await gitOverSsh(folder, writes, ['clone', '--quiet', urlOf(project), 'archived'])).ok)
})

t.test('the setting of the protocol, maintenance mode, and the address in records', async t => {
  const project = await filled()
  const identity = await identityOf(keys, project.owner)
  const ask = (service: string) => ssh(port, identity.file, [`${service} '${project.path}'`])
  const admin = app.as(await app.make.admin())
  await admin.put('/application/settings', { enabled_git_access_protocol: 'http' })
  t.match(await ask('git-upload-pack'), { code: 128, stderr: /Git over SSH is switched off: use HTTP/ })
  await admin.put('/application/settings', { enabled_git_access_protocol: 'ssh' })
  t.match(await ask('git-upload-pack'), { code: 0 })
  await admin.put('/application/settings', { enabled_git_access_protocol: 'nil' })
  await execute("update application_settings set maintenance_message = 'back at noon', maintenance_since = now()")
  t.match(await ask('git-upload-pack'), { code: 0 })
  t.match(await ask('git-receive-pack'), { code: 128, stderr: /back at noon/ })
  await execute('update application_settings set maintenance_message = null, maintenance_since = null')
  const shown = (await app.as(project.owner).get(`/projects/${project.id}`)).json()
  t.equal(shown.ssh_url_to_repo, urlOf(project))
  t.equal(config().ssh.enabled, true)
})
