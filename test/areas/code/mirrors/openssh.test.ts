// Mirrors of repositories on a stock server: OpenSSH with git, and a key that may do nothing but git.
import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { config, loadConfig } from '../../../../src/config.js'
import { testApp } from '../../../helpers/app.js'
import type { TestProject } from '../../../helpers/factory.js'
import { gitWith } from '../../../helpers/trees.js'
import { startOpenSsh } from '../../../scenarios/openssh.js'

const app = await testApp(t)
const { home } = config()
loadConfig({ home, port: 0, hooks: { allow: ['127.0.0.1'] } })
const folder = t.testdir({ keys: '' })
const keys = join(folder, 'keys')
const sshd = await startOpenSsh(folder, `/usr/bin/cat ${keys}`)
t.teardown(async () => {
  await sshd.stop()
  loadConfig({ home })
})
const hostKey = execFileSync('ssh-keygen', ['-l', '-f', join(folder, 'host_key.pub')], { encoding: 'utf8' }).split(
  ' '
)[1]

let made = 0

/** Makes an empty repository, whose path the shell of the server must take as it is. */
function remoteRepository(): { readonly path: string; readonly url: string } {
  const path = join(folder, `a team's $(false) & ${++made}.git`)
  mkdirSync(path)
  gitWith(path, ['init', '--quiet', '--bare', '--initial-branch=master'])
  return { path, url: `ssh://${sshd.user}@127.0.0.1:${sshd.port}${encodeURI(path)}` }
}

/** Lets a mirror in, as the documentation of git has it: only git, no terminal and no forwarding. */
const allow = (publicKey: string) =>
  appendFileSync(keys, `restrict,command="git-shell -c \\"$SSH_ORIGINAL_COMMAND\\"" ${publicKey}\n`)

const refsOf = (path: string) =>
  gitWith(path, ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags'])
const by = ({ owner }: TestProject) => app.as(owner)

t.test('a push mirror asks for the host key, then for its own, and then pushes', async t => {
  const { path, url } = remoteRepository()
  const source = await app.make.project()
  await app.make.file(source, 'a', 'content')
  await app.make.branch(source, 'feature')
  const mirrors = `/projects/${source.id}/remote_mirrors`
  const mirror = (await by(source).post(mirrors, { url })).json()
  const shown = async () => {
    await app.runJobs()
    return (await by(source).get(`${mirrors}/${mirror.id}`)).json()
  }
  t.match(await shown(), { state: 'stopped', last_problem: 'host_key_unconfirmed', ssh_host_key_seen: hostKey })
  await by(source).put(`${mirrors}/${mirror.id}`, { ssh_host_key: hostKey })
  t.match(await shown(), { state: 'failed', last_problem: 'login_refused' })
  t.equal(refsOf(path), '')
  allow(mirror.ssh_public_key)
  await by(source).post(`${mirrors}/${mirror.id}/sync`)
  t.match(await shown(), { state: 'succeeded', moved_refs: 2 })
  t.equal(refsOf(path), refsOf(repositoryPath(source)))

  writeFileSync(
    join(path, 'hooks/update'),
    '#!/bin/sh\ntest "$1" != refs/heads/closed || { echo closed for all; exit 1; }\n'
  )
  chmodSync(join(path, 'hooks/update'), 0o755)
  await app.make.branch(source, 'closed')
  await app.make.branch(source, 'open')
  await by(source).post(`${mirrors}/${mirror.id}/sync`)
  t.match(await shown(), {
    state: 'partial',
    moved_refs: 1,
    refs: [{ ref: 'refs/heads/closed', status: 'refused', reason: /hook declined/ }]
  })
  t.match(refsOf(path), /refs\/heads\/open /)
})

t.test('a pull mirror with a known host key follows the repository', async t => {
  const { path, url } = remoteRepository()
  const source = await app.make.project()
  await app.make.file(source, 'a', 'content')
  const push = () => gitWith(repositoryPath(source), ['push', '--quiet', '--mirror', path])
  push()
  const project = await app.make.project()
  const mirror = `/projects/${project.id}/mirror/pull`
  const made = await by(project).put(mirror, { url, ssh_host_key: hostKey })
  t.match(made.json(), { ssh_public_key: /^ssh-ed25519 / })
  allow(made.json().ssh_public_key)
  const follow = async () => {
    await by(project).post(mirror)
    await app.runJobs()
    return (await by(project).get(mirror)).json()
  }
  t.match(await follow(), { state: 'succeeded' })
  t.equal(refsOf(repositoryPath(project)), refsOf(path))
  await app.make.file(source, 'b', 'more')
  await app.make.branch(source, 'topic')
  push()
  t.match(await follow(), { state: 'succeeded', moved_refs: 2 })
  t.equal(refsOf(repositoryPath(project)), refsOf(path))
  await by(project).put(mirror, { url: `${url}-missing` })
  const next = (await by(project).get(mirror)).json()
  allow(next.ssh_public_key)
  // The server's own words may come after git has ended: then the reason is that of git.
  t.match(await follow(), { state: 'failed', last_problem: /not_found|unreachable|git_failed/ })
})

t.test('another host key than the confirmed one ends the run before the login', async t => {
  const { url } = remoteRepository()
  const project = await app.make.project()
  const mirror = `/projects/${project.id}/mirror/pull`
  const made = await by(project).put(mirror, { url, ssh_host_key: `SHA256:${'A'.repeat(43)}` })
  allow(made.json().ssh_public_key)
  const before = sshd.log().length
  await app.runJobs()
  t.match((await by(project).get(mirror)).json(), { state: 'failed', last_problem: 'host_key_changed' })
  t.notMatch(sshd.log().slice(before), /Accepted publickey/)
})
