// Locks of files with the stock client, and pushes that change locked files.
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createLock } from '../../../src/areas/projects/lfs/locks.js'
import { repositoryPath } from '../../../src/areas/projects/projects/repositories.js'
import { execute } from '../../../src/db/connect/sql.js'
import { startSsh } from '../../../src/server/ssh/start.js'
import { testApp } from '../../helpers/app.js'
import { originBy, projectRow } from '../../helpers/factory.js'
import { remoteUrl } from '../../scenarios/client.js'
import { gitOverSsh, identityOf } from '../ssh-client.js'
import { lfsClient, listen, workingCopy } from './client.js'

process.env.GITSTEAD_SSH_PORT = '0'
const app = await testApp(t)
const url = await listen(app)
const server = await startSsh()
if (!server) throw new Error('no SSH server')
t.teardown(() => server.stop())
const folder = t.testdir()
const client = await lfsClient(folder)
const project = await app.make.project()
const { owner } = project
const other = await app.make.user()
await app.make.member(project, 40, other)
const remoteOf = (user: typeof other) => remoteUrl(url, project.path, user.username, user.privateToken)

const mine = join(folder, 'mine')
await workingCopy(client, mine, remoteOf(owner), ' lockable')
for (const name of ['a.bin', 'b.bin', 'plain.txt']) writeFileSync(join(mine, name), randomBytes(100))
await client.git(mine, 'add', '.')
await client.git(mine, 'commit', '--quiet', '-m', 'Begin')
await client.git(mine, 'push', 'origin', 'master')
const theirs = join(folder, 'theirs')
await client.git(folder, 'clone', '--quiet', remoteOf(other), theirs)

/** Commits a change in the other working copy, and pushes it without the hooks of the client. */
async function change(branch: string, names: readonly string[], content: Buffer = randomBytes(100)) {
  await client.git(theirs, 'checkout', '--quiet', '-B', branch, 'origin/master')
  for (const name of names) writeFileSync(join(theirs, name), content, { mode: 0o644 })
  await client.git(theirs, '-c', 'lfs.setlockablereadonly=false', 'add', '.')
  await client.git(theirs, 'commit', '--quiet', '-m', 'Change')
  await client.git(theirs, 'lfs', 'push', '--all', 'origin')
  return client.tryGit(theirs, 'push', '--no-verify', 'origin', `${branch}:${branch}`)
}

const quarantines = () =>
  readdirSync(join(repositoryPath(project), 'objects')).filter(name => name.startsWith('tmp_objdir'))

t.test('lock, list, verify and unlock', async t => {
  t.match(await client.git(mine, 'lfs', 'lock', 'a.bin'), /Locked a.bin/)
  t.match(await client.tryGit(theirs, 'lfs', 'lock', 'a.bin'), {
    ok: false,
    stderr: new RegExp(`a.bin is locked by ${owner.username}`)
  })
  t.match(await client.git(theirs, 'lfs', 'locks'), new RegExp(`a.bin\\s+${owner.username}`))
  t.match(await client.git(mine, 'lfs', 'locks', '--verify'), /^O a.bin/)
  t.match(await client.git(theirs, 'lfs', 'locks', '--verify'), /^a.bin/)
  t.match(await client.tryGit(theirs, 'lfs', 'unlock', 'a.bin'), { ok: false })
  await execute('update members set access_level = 30 where user_id = ?', [other.id])
  t.match(await client.tryGit(theirs, 'lfs', 'unlock', '--force', 'a.bin'), { ok: false, stderr: /only masters/ })
  await execute('update members set access_level = 40 where user_id = ?', [other.id])
  t.match(await client.git(theirs, 'lfs', 'unlock', '--force', 'a.bin'), /Unlocked a.bin/)
  t.notMatch(await client.git(mine, 'lfs', 'locks'), /a.bin/)
  const row = await projectRow(project)
  for (let at = 0; at < 150; at++) await createLock(row, `many/${at}`, originBy(owner))
  t.equal((await client.git(mine, 'lfs', 'locks')).split('\n').length, 150, 'all pages')
  await execute('delete from lfs_locks')
})

t.test('a push that changes a file which somebody else has locked is refused', async t => {
  const row = await projectRow(project)
  await createLock(row, 'a.bin', originBy(owner))
  const refused = await change('first', ['a.bin'])
  t.match(refused, { ok: false, stderr: new RegExp(`a.bin is locked by ${owner.username}`) })
  t.notMatch(await client.git(theirs, 'ls-remote', 'origin'), /first/)
  t.same(quarantines(), [])
  t.match(await change('second', ['b.bin', 'plain.txt']), { ok: true }, 'other files')
  const large = await change('third', ['large.txt', 'a.bin'], randomBytes(2_000_000))
  t.match(large, { ok: false, stderr: /a.bin is locked by/ }, 'a large push, with which git would begin early')
  await createLock(row, 'plain.txt', originBy(owner))
  const both = await change('both', ['plain.txt', 'a.bin'])
  t.match(both, { ok: false, stderr: /a.bin is locked by \S+, and 1 more of the changed files are locked/ })

  await client.git(theirs, 'checkout', '--quiet', '-B', 'gone', 'origin/master')
  await client.git(theirs, 'rm', '--quiet', 'a.bin')
  await client.git(theirs, 'commit', '--quiet', '-m', 'Remove')
  t.match(await client.tryGit(theirs, 'push', '--no-verify', 'origin', 'gone'), {
    ok: false,
    stderr: /a.bin is locked/
  })
  await client.git(theirs, 'tag', 'hidden')
  t.match(await client.tryGit(theirs, 'push', '--no-verify', 'origin', 'hidden'), {
    ok: false,
    stderr: /a.bin is locked/
  })
  await client.git(theirs, 'revert', '--no-edit', 'HEAD')
  t.match(
    await client.tryGit(theirs, 'push', '--no-verify', 'origin', 'gone'),
    { ok: false },
    'a change that was taken back'
  )

  const identity = await identityOf(folder, other)
  const ssh = `ssh://git@127.0.0.1:${server.port}/${project.path}.git`
  t.match(await gitOverSsh(theirs, identity, ['push', '--no-verify', ssh, 'first']), {
    ok: false,
    stderr: /a.bin is locked by/
  })
  const own = await identityOf(folder, owner)
  t.match(await gitOverSsh(theirs, own, ['push', '--no-verify', ssh, 'first']), { ok: true }, 'the owner of the lock')
  t.match(await client.tryGit(theirs, 'push', '--no-verify', 'origin', 'first:copy'), { ok: true }, 'known commits')
  t.match(await client.tryGit(theirs, 'push', '--no-verify', 'origin', ':copy'), { ok: true }, 'a deletion')
})

t.test('a merge of known changes is no change, but a change in a merge is', async t => {
  await client.git(theirs, 'fetch', '--quiet', 'origin')
  await client.git(theirs, 'checkout', '--quiet', '-B', 'merged', 'origin/second')
  await client.git(theirs, 'merge', '--quiet', '--no-edit', 'origin/first')
  t.match(await client.tryGit(theirs, 'push', '--no-verify', 'origin', 'merged'), { ok: true })
  await client.git(theirs, 'checkout', '--quiet', '-B', 'evil', 'origin/second')
  await client.git(theirs, 'merge', '--quiet', '--no-commit', '--no-ff', 'origin/first')
  writeFileSync(join(theirs, 'a.bin'), 'evil', { mode: 0o644 })
  await client.git(theirs, 'add', 'a.bin')
  await client.git(theirs, 'commit', '--quiet', '-m', 'Evil merge')
  await client.git(theirs, 'lfs', 'push', '--all', 'origin')
  t.match(await client.tryGit(theirs, 'push', '--no-verify', 'origin', 'evil'), {
    ok: false,
    stderr: /a.bin is locked/
  })
})

t.test('locks do not count while LFS is off', async t => {
  await execute('update projects set lfs_enabled = 0 where id = ?', [project.id])
  t.match(await client.tryGit(theirs, 'push', '--no-verify', 'origin', 'gone'), { ok: true })
  t.ok(existsSync(repositoryPath(project)))
})
