// A real appliance with both kinds of SSH: its own server, and a real OpenSSH server that calls its commands.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { gitOverSsh, makeIdentity, ssh } from '../server/ssh-client.js'
import { freePort, gitstead, makeUser, program, startAppliance } from './appliance.js'
import { git } from './client.js'
import { startOpenSsh } from './openssh.js'

const home = join(t.testdir(), 'home')
const folder = t.testdir({ keys: {}, sshd: {} })
const sshPort = await freePort()
const environment = { GITSTEAD_SSH_PORT: String(sshPort) }
const appliance = await startAppliance({ home, environment })
t.teardown(() => appliance.stop())
const ada = await makeUser(home, 'ada')
const identity = makeIdentity(join(folder, 'keys'))
const call = async (path: string, body: unknown) => {
  const response = await fetch(`${appliance.url}/api/v3${path}`, {
    method: 'POST',
    headers: { 'private-token': ada.private_token, 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  return (await response.json()) as { id: number; ssh_url_to_repo: string }
}
const project = await call('/projects', { name: 'engine' })
await call('/user/keys', { title: 'laptop', key: identity.publicKey })

t.test('the address of a project works as shown, and a push gets its messages', async t => {
  t.equal(project.ssh_url_to_repo, `ssh://git@127.0.0.1:${sshPort}/ada/engine.git`)
  const work = t.testdir()
  await git(work, ['init', '--quiet', '-b', 'master'])
  writeFileSync(join(work, '.gitstead-ci.yml'), 'test:\n  script: [make]\n')
  await git(work, ['add', '.'])
  await git(work, ['commit', '--quiet', '-m', 'first'])
  const pushed = await gitOverSsh(work, identity, ['push', project.ssh_url_to_repo, 'master'])
  // The push waits for its pipeline half a second; a busy machine may take longer.
  t.match(pushed, { ok: true, stderr: /remote: (?:pipeline 1 created|master: a pipeline will be created in a moment)/ })
  t.ok((await gitOverSsh(work, identity, ['clone', '--quiet', project.ssh_url_to_repo, 'clone'])).ok)
  const info = await gitstead(['info', '--home', home, '--json'], { environment })
  t.match(JSON.parse(info.stdout), { urls: { ssh: `ssh://git@127.0.0.1:${sshPort}` } })
})

t.test('a second appliance with the same port of SSH is refused before anything starts', async t => {
  const second = await gitstead(['up', '--home', join(t.testdir(), 'other'), '--port', '0'], { environment })
  t.match(second, {
    code: 1,
    stderr:
      /git over SSH: port \d+ of 127.0.0.1 is already in use: stop the program that uses it, or set ssh.port \(GITSTEAD_SSH_PORT\)/
  })
})

t.test('an OpenSSH server clones, pushes and refuses', async t => {
  const words = [process.execPath, program, 'ssh', 'authorized-keys', '--home', home, '--fingerprint', '%f']
  const sshd = await startOpenSsh(join(folder, 'sshd'), `/usr/bin/env -u NODE_OPTIONS ${words.join(' ')}`)
  t.teardown(() => sshd.stop())
  const url = `ssh://${sshd.user}@127.0.0.1:${sshd.port}/ada/engine.git`
  const work = t.testdir()
  for (const version of ['0', '2']) {
    const set = ['-c', `protocol.version=${version}`]
    const cloned = await gitOverSsh(work, identity, [...set, 'clone', '--quiet', url, `v${version}`])
    t.ok(cloned.ok, cloned.stderr + (cloned.ok ? '' : sshd.log()))
    const clone = join(work, `v${version}`)
    await git(clone, ['commit', '--quiet', '--allow-empty', '-m', 'next'])
    const pushed = await gitOverSsh(clone, identity, [...set, 'push', 'origin', 'HEAD:refs/heads/master', '--force'])
    t.match(pushed, { ok: true, stderr: /remote: pipeline \d+ created/ })
    const gone = await gitOverSsh(clone, identity, [
      ...set,
      'push',
      'origin',
      `HEAD:refs/heads/b${version}`,
      ':refs/heads/c'
    ])
    t.match(gone.stderr, /\[new branch\]/)
  }
  t.match(await ssh(sshd.port, identity.file, ['-T'], sshd.user), { code: 0, stderr: /Welcome to Gitstead, ada!/ })
  t.match(await ssh(sshd.port, identity.file, ['id'], sshd.user), { code: 128, stdout: '', stderr: /runs only git/ })
  const stranger = makeIdentity(join(folder, 'keys'))
  t.match(await ssh(sshd.port, stranger.file, ['-T'], sshd.user), { code: 255, stderr: /Permission denied/ })
})

t.test('without a server, the commands for OpenSSH report that', async t => {
  const other = join(t.testdir(), 'none')
  const [type = '', key = ''] = identity.publicKey.split(' ')
  const asked = await gitstead(['ssh', 'authorized-keys', type, key, '--home', other])
  t.match(asked, { code: 5, stdout: '', stderr: /the server of this home does not run/ })
  const right = await gitstead(['ssh', 'authorized-keys', type, key, '--home', home])
  t.match(right, { code: 0, stdout: new RegExp(`^restrict,command="[^"]*gitstead ssh serve --home [^"]*" ${type} `) })
  const wrong = await gitstead(['ssh', 'authorized-keys', '--fingerprint', 'x; id', '--home', home])
  t.match(wrong, { code: 2, stdout: '', stderr: /fingerprint must be SHA256:/ })
})
