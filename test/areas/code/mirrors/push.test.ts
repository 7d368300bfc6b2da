// A project passes its branches on to others, over HTTP and SSH, with real git on both sides.

import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import t from 'tap'
import { nextRun, startDueMirrors } from '../../../../src/areas/code/mirrors/mirror-runs.js'
import { addKey } from '../../../../src/areas/people/users/keys.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { config, loadConfig } from '../../../../src/config.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { DEVELOPER } from '../../../../src/lib/levels.js'
import { startSsh } from '../../../../src/server/ssh/start.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin, type TestProject, type TestUser } from '../../../helpers/factory.js'
import { mailbox } from '../../../helpers/mails.js'
import { gitWith } from '../../../helpers/trees.js'

const app = await testApp(t)
const { home } = config()
const usual = { home, port: 0, ssh: { port: 0 }, hooks: { allow: ['127.0.0.1'] } }
loadConfig(usual)
const { port } = new URL(await app.fastify.listen({ host: '127.0.0.1', port: 0 }))
const ssh = await startSsh()
if (!ssh) throw new Error('no SSH server')
t.teardown(async () => {
  app.fastify.server.closeAllConnections()
  await ssh.stop()
  loadConfig({ home })
})

const urlOf = ({ path }: TestProject, { username, password }: TestUser) =>
  `http://${username}:${password}@127.0.0.1:${port}/${path}.git`
const refsOf = (project: TestProject): Record<string, string> =>
  Object.fromEntries(
    gitWith(repositoryPath(project), ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags'])
      .split('\n')
      .filter(Boolean)
      .map(line => line.split(' ') as [string, string])
  )
const by = ({ owner }: TestProject) => app.as(owner)
const pathOf = ({ id }: TestProject) => `/projects/${id}/remote_mirrors`
const add = async (project: TestProject, body: object): Promise<{ id: number } & Record<string, unknown>> => {
  const made = await by(project).post(pathOf(project), body)
  if (made.statusCode !== 201) throw new Error(made.body)
  return made.json()
}
const shown = async (project: TestProject, { id }: { id: number }) =>
  (await by(project).get(`${pathOf(project)}/${id}`)).json()
const sync = async (project: TestProject, mirror: { id: number }) => {
  await by(project).post(`${pathOf(project)}/${mirror.id}/sync`)
  await app.runJobs()
  return shown(project, mirror)
}
/** Lets the seconds between two runs pass. */
const later = () => execute('update mirrors set started_at = started_at - interval 1 hour')

/** A project with a file in master and in feature, and an empty one whose owner is another. */
async function pair() {
  const source = await app.make.project()
  await app.make.file(source, 'a', 'content')
  await app.make.branch(source, 'feature')
  const target = await app.make.project()
  return { source, target }
}

t.test('a push mirror follows each push; pushes share runs', async t => {
  const { source, target } = await pair()
  const mirror = await add(source, { url: urlOf(target, target.owner) })
  t.match(mirror, { direction: 'push', state: 'waiting', has_password: true, interval: 0 })
  t.notMatch(JSON.stringify(mirror), target.owner.password)
  await app.runJobs()
  t.same(refsOf(target), refsOf(source))
  t.match(await shown(source, mirror), { state: 'succeeded', moved_refs: 2, next_attempt_at: null })
  await later()
  await app.make.file(source, 'b', 'more')
  await app.make.file(source, 'c', 'more')
  await app.make.file(source, 'd', 'more', 'feature')
  const ran = await app.runJobs()
  t.equal(ran.filter(name => name === 'mirror.run').length, 1)
  t.same(refsOf(target), refsOf(source))
  const events = (await by(target).get(`/projects/${target.id}/events`)).json()
  t.match(events[0], { action_name: 'pushed to', author_id: target.owner.id }, 'a push of the user of the remote')
})

t.test('several mirrors have patterns of their own', async t => {
  const { source, target } = await pair()
  await by(source).post(`/projects/${source.id}/repository/tags`, { tag_name: 'v1', ref: 'master' })
  const other = await app.make.project()
  await add(source, { url: urlOf(target, target.owner), branch_patterns: ['feat*'] })
  await add(source, { url: urlOf(other, other.owner), branch_patterns: ['master', 'refs/tags/v*'] })
  await app.runJobs()
  t.same(Object.keys(refsOf(target)), ['refs/heads/feature'])
  t.same(Object.keys(refsOf(other)), ['refs/heads/master', 'refs/tags/v1'])
  const list = await by(source).get(pathOf(source))
  t.equal(list.json().length, 2)
  t.equal(list.headers['x-total'], '2')
  const foreign = `${pathOf(target)}/${list.json()[0].id}`
  t.equal((await by(target).get(foreign)).statusCode, 404, 'the mirror of another project')
})

t.test('never overwrites or deletes unless asked', async t => {
  const { source, target } = await pair()
  const mirror = await add(source, { url: urlOf(target, target.owner) })
  await app.runJobs()
  await app.make.file(target, 'theirs', 'x', 'feature')
  await app.make.branch(target, 'own')
  await app.make.file(source, 'ours', 'x', 'feature')
  await app.make.file(source, 'ours', 'x')
  const theirs = refsOf(target)
  const result = await sync(source, mirror)
  t.match(result, { state: 'partial', moved_refs: 1, refs: [{ ref: 'refs/heads/feature', status: 'diverged' }] })
  t.same(refsOf(target), { ...theirs, 'refs/heads/master': refsOf(source)['refs/heads/master'] })
  const change = { overwrite_diverged: true, delete_removed: true }
  t.equal((await by(source).put(`${pathOf(source)}/${mirror.id}`, change)).statusCode, 200)
  await app.runJobs()
  t.match(await shown(source, mirror), { state: 'succeeded', refs: [], has_password: true })
  t.same(refsOf(target), refsOf(source))
})

t.test('a refused branch does not hold up the others', async t => {
  const { source, target } = await pair()
  await app.make.file(target, 'first', 'x')
  const developer = await app.make.member(target, DEVELOPER)
  for (const name of ['b1', 'b2', 'b3']) await app.make.branch(source, name)
  const mirror = await add(source, { url: urlOf(target, developer), overwrite_diverged: true })
  await app.runJobs()
  t.match(await shown(source, mirror), {
    state: 'partial',
    moved_refs: 4,
    refs: [{ ref: 'refs/heads/master', status: 'refused', reason: /protected branches/ }]
  })
})

t.test('failures are tried again, more and more rarely', async t => {
  const { source, target } = await pair()
  const readMails = mailbox()
  await readMails()
  const mirror = await add(source, { url: urlOf(target, { ...target.owner, password: 'wrong' }) })
  await app.runJobs()
  const first = await shown(source, mirror)
  t.match(first, { state: 'failed', last_problem: 'login_refused', failures: 1 })
  t.ok(Date.parse(first.next_attempt_at) > Date.now() + 50_000)
  await app.make.file(source, 'b', 'more')
  await app.runJobs()
  t.match(await shown(source, mirror), { failures: 1, next_attempt_at: first.next_attempt_at }, 'a push waits, too')
  t.match(await sync(source, mirror), { failures: 2 }, 'a person does not wait')
  await execute('update mirrors set due_at = now(3) where id = ?', [mirror.id])
  await startDueMirrors()
  const ran = await app.runJobs()
  t.match(await shown(source, mirror), { failures: 3 })
  t.ok(ran.includes('mail.send'), 'its user learns about the third one')
  const mails = await readMails()
  t.equal(mails.length, 1)
  t.match(mails[0], { to: source.owner.email, subject: `A mirror of ${source.path} has failed 3 times` })
  t.notMatch(JSON.stringify(mails), /wrong/)
  t.match(await sync(source, mirror), { failures: 4 })
  t.same(await readMails(), [], 'once')
  await by(source).put(`${pathOf(source)}/${mirror.id}`, { password: target.owner.password })
  await app.runJobs()
  t.match(await shown(source, mirror), { state: 'succeeded', failures: 0 })
  const moved = { url: `http://127.0.0.1:${port}/a.git` }
  const changed = await by(source).put(`${pathOf(source)}/${mirror.id}`, moved)
  t.match(changed.json(), { has_password: false }, 'another URL does not get the password')

  const plan = { direction: 'push', interval_minutes: null, again: false } as const
  const now = new Date()
  const minutes = (result: 'failed' | 'succeeded' | 'stopped' | 'partial', more: object) => {
    const next = nextRun({ ...plan, result, failures: 0, ...more }, now, () => 0)
    return next && (next.getTime() - now.getTime()) / 60_000
  }
  t.same(
    [1, 2, 3, 6, 7, 10, 11].map(failures => minutes('failed', { failures })),
    [1, 2, 4, 32, 60, 60, null]
  )
  t.equal(minutes('failed', { failures: 11, interval_minutes: 30 }), 30)
  t.equal(minutes('succeeded', { interval_minutes: 30 }), 30)
  t.equal(minutes('partial', { again: true }), 1 / 6)
  t.equal(minutes('stopped', {}), null)
})

t.test('a server that hangs is given up', async t => {
  const { source } = await pair()
  const sockets: Socket[] = []
  const hanging = createServer(socket => void sockets.push(socket))
  await new Promise<void>(resolve => hanging.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    hanging.close()
  })
  loadConfig({ ...usual, imports: { timeout: 1 } })
  t.teardown(() => void loadConfig(usual))
  const { port: silent } = hanging.address() as AddressInfo
  const http = await add(source, { url: `http://127.0.0.1:${silent}/a.git` })
  const overSsh = await add(source, { url: `ssh://git@127.0.0.1:${silent}/a.git` })
  await app.runJobs()
  for (const mirror of [http, overSsh]) {
    t.match(await shown(source, mirror), { state: 'failed', last_problem: 'timeout' })
  }
})

t.test('a push follows no redirect inside', async t => {
  const { source } = await pair()
  const asked: string[] = []
  const inside = createHttpServer((request, response) => {
    asked.push(request.url ?? '')
    response.end()
  })
  await new Promise<void>(resolve => inside.listen(0, '127.0.0.2', resolve))
  const to = `http://127.0.0.2:${(inside.address() as AddressInfo).port}/x/info/refs?service=git-upload-pack`
  const redirecting = createHttpServer((_, response) => void response.writeHead(302, { location: to }).end())
  await new Promise<void>(resolve => redirecting.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const server of [inside, redirecting]) server.close()
  })
  const mirror = await add(source, { url: `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}/a.git` })
  await app.runJobs()
  t.match(await shown(source, mirror), { state: 'failed', last_problem: 'address_refused' })
  t.same(asked, [])
  // A name that leads inside is refused when it is resolved.
  const named = await add(source, { url: `ssh://git@localhost:${ssh.port}/a.git` })
  loadConfig({ ...usual, hooks: { allow: [] } })
  await app.runJobs()
  loadConfig(usual)
  t.match(await shown(source, named), { state: 'failed', last_problem: 'address_refused' })
})

t.test('over SSH with a key pair and a confirmed host key', async t => {
  const { source, target } = await pair()
  const url = `ssh://git@127.0.0.1:${ssh.port}/${target.path}.git`
  const mirror = await add(source, { url })
  t.match(mirror, { ssh_public_key: /^ssh-ed25519 \S{68} gitstead$/, ssh_host_key: null, has_password: false })
  const [stored] = await rows<{ text: string }>(
    'select cast(secret_encrypted as char) as text from mirrors where id = ?',
    [mirror.id]
  )
  t.notMatch(stored?.text, /PRIVATE KEY/)
  await app.runJobs()
  const unknown = await shown(source, mirror)
  t.match(unknown, { state: 'stopped', last_problem: 'host_key_unconfirmed', ssh_host_key_seen: /^SHA256:\S{43}$/ })
  t.same(refsOf(target), {})
  const confirm = (ssh_host_key: string) => by(source).put(`${pathOf(source)}/${mirror.id}`, { ssh_host_key })
  t.equal((await confirm('SHA256:short')).statusCode, 400)
  t.equal((await confirm(unknown.ssh_host_key_seen)).statusCode, 200)
  await app.runJobs()
  t.match(await shown(source, mirror), { state: 'failed', last_problem: 'login_refused' }, 'the key is not known there')
  await addKey(target.owner, { title: 'mirror', key: String(mirror.ssh_public_key) }, someOrigin)
  t.match(await sync(source, mirror), { state: 'succeeded', moved_refs: 2 })
  t.same(refsOf(target), refsOf(source))

  const follower = await app.make.project()
  const path = `/projects/${follower.id}/mirror/pull`
  const pulled = await by(follower).put(path, { url, ssh_host_key: unknown.ssh_host_key_seen })
  await addKey(target.owner, { title: 'pull', key: pulled.json().ssh_public_key }, someOrigin)
  await app.runJobs()
  t.match((await by(follower).get(path)).json(), { state: 'succeeded', moved_refs: 2 })
  t.same(refsOf(follower), refsOf(target))
  const missing = await by(follower).put(path, { url: url.replace('.git', '-missing.git') })
  t.not(missing.json().ssh_public_key, pulled.json().ssh_public_key, 'another URL gets another key')
  t.equal(missing.json().ssh_host_key, unknown.ssh_host_key_seen, 'the same server needs no confirmation')
  await addKey(target.owner, { title: 'pull', key: missing.json().ssh_public_key }, someOrigin)
  await app.runJobs()
  t.match((await by(follower).get(path)).json(), { state: 'failed', last_problem: 'not_found' })

  const other = `SHA256:${'A'.repeat(43)}`
  await confirm(other)
  await app.make.file(source, 'b', 'more')
  await app.runJobs()
  const changed = await shown(source, mirror)
  t.match(changed, { state: 'failed', last_problem: 'host_key_changed', ssh_host_key: other })
  t.match(changed.last_error, unknown.ssh_host_key_seen)
  t.notSame(refsOf(target), refsOf(source))
})

t.test('a project has a limited number of them, and they refuse bad values', async t => {
  const { source } = await pair()
  const url = 'https://git.example.org/a.git'
  const bad: [object, RegExp][] = [
    [{}, /url/],
    [{ url, interval: 3 }, /interval/],
    [{ url, interval: 99_999 }, /interval/],
    [{ url, ssh_host_key: 'SHA256:x' }, /^/],
    [{ url, password: 'a\nb' }, /line end/],
    [{ url: 'https://u:%zz@example.org/a' }, /percent/],
    [{ url: `https://example.org/${'a'.repeat(2500)}` }, /longer/]
  ]
  for (const [body, text] of bad) {
    const made = await by(source).post(pathOf(source), body)
    if (made.statusCode === 201) await by(source).delete(`${pathOf(source)}/${made.json().id}`)
    else t.match(made.body, text)
    t.equal(made.statusCode, 'ssh_host_key' in body ? 201 : 400, JSON.stringify(body).slice(0, 100))
  }
  for (let made = 0; made < 10; made++) await add(source, { url, enabled: false })
  t.equal((await by(source).post(pathOf(source), { url })).statusCode, 400)
})
