// Two machines, each the owner of one storage on a file system that both reach: each of them answers for every project, and when one
// dies, the other one takes its storage over.
import { join } from 'node:path'
import t from 'tap'
import { gitOverSsh, makeIdentity } from '../server/ssh-client.js'
import type { Appliance } from './appliance.js'
import { eventually, git } from './client.js'
import { commandOn, killMachine, type Machine, startMachine, twoMachines, useWhileMoving } from './two-machines.js'

t.setTimeout(600_000)

const {
  folder,
  first,
  second,
  source,
  ask,
  remote,
  projectOn: makeProject
} = await twoMachines(t, { name: 'machines', shared: true })
const alpha = await startMachine(first)
let beta: Appliance = await startMachine(second)
t.teardown(() => Promise.all([alpha.stop(), beta.stop()]))

let count = 0

const projectOn = (storage: string) => makeProject([alpha, beta], storage, `on-${storage}-${++count}`)

t.test('each machine answers for the storages of both', async t => {
  for (const storage of ['alpha', 'beta']) {
    const { id, path } = await projectOn(storage)
    await git(source, ['push', '--quiet', remote(alpha, path), 'master'])
    await git(source, ['push', '--quiet', remote(beta, path), 'master:topic'])
    for (const [at, name] of [
      [alpha, 'alpha'],
      [beta, 'beta']
    ] as const) {
      const about = `a project on ${storage}, asked at ${name}`
      const { json: branches } = await ask<{ name: string }[]>(at, 'GET', `/projects/${id}/repository/branches`)
      t.match(
        branches.map(one => one.name),
        ['master', 'topic'],
        about
      )
      const commit = { branch_name: 'master', file_path: `${name}.txt`, content: name, commit_message: `From ${name}` }
      t.equal((await ask(at, 'POST', `/projects/${id}/repository/files`, commit)).status, 201, about)
      const clone = join(folder, `clone-${storage}-${name}`)
      await git(folder, ['clone', '--quiet', remote(at, path), clone])
      t.match(await git(clone, ['log', '--format=%s', '-1']), `From ${name}`, about)
      const { status } = await ask(at, 'GET', `/projects/${id}/repository/commits/master`)
      t.equal(status, 200)
    }
    await eventually(
      async () => (await ask<unknown[]>(alpha, 'GET', `/projects/${id}/events`)).json.length >= 5,
      () => 'the jobs of pushes reach a worker of the right machine'
    )
  }
})

interface Listed {
  readonly name: string
  readonly machine_id: string
}

const storages = async () => {
  const { stdout } = await commandOn(first, ['storages', 'list', '--json'])
  return (JSON.parse(stdout) as { storages: Listed[] }).storages
}

t.test('git over SSH reaches a repository of the other machine', async t => {
  const identity = makeIdentity(t.testdir())
  t.equal((await ask(alpha, 'POST', '/user/keys', { title: 'laptop', key: identity.publicKey })).status, 201)
  for (const storage of ['alpha', 'beta']) {
    const { path } = await projectOn(storage)
    const address = `ssh://git@127.0.0.1:${first.environment.GITSTEAD_SSH_PORT}/${path}.git`
    t.match(await gitOverSsh(source, identity, ['push', address, 'master']), { ok: true }, storage)
    t.match(
      await gitOverSsh(source, identity, ['ls-remote', address]),
      { ok: true, stdout: /refs\/heads\/master/ },
      storage
    )
    t.match(await gitOverSsh(source, identity, ['ls-remote', `${address}-missing`]), {
      ok: false,
      stderr: /does not exist/
    })
  }
})

t.test('a storage moves to another machine without a failed request', async t => {
  const { id, path } = await projectOn('alpha')
  await git(source, ['push', '--quiet', remote(alpha, path), 'master'])
  const target = (await storages()).find(({ name }) => name === 'beta')?.machine_id ?? ''
  const given = await commandOn(first, ['storages', 'give', 'alpha', target])
  t.equal(given.code, 0, given.stderr)
  const statuses = new Set<number>()
  let commits = 0
  await eventually(
    async () => {
      const at = commits % 2 === 0 ? alpha : beta
      const file = {
        branch_name: 'master',
        file_path: `moving-${commits}`,
        content: 'x',
        commit_message: `Move ${++commits}`
      }
      statuses.add((await ask(at, 'POST', `/projects/${id}/repository/files`, file)).status)
      statuses.add((await ask(at, 'GET', `/projects/${id}/repository/commits/master`)).status)
      return (await storages()).every(({ machine_id: owner }) => owner === target)
    },
    () => 'the storage never moved'
  )
  t.same([...statuses].sort(), [200, 201])
  const { json } = await ask<{ title: string }[]>(alpha, 'GET', `/projects/${id}/repository/commits?per_page=100`)
  t.equal(json.length, commits + 1, 'no commit is lost or doubled')
})

t.test('a project moves between storages of one machine, and the other machine passes its requests on', async t => {
  // One machine owns both storages now.
  const { id, path } = await projectOn('alpha')
  await git(source, ['push', '--quiet', remote(alpha, path), 'master'])
  const move = (of: Machine) => commandOn(of, ['projects', 'move', path, '--storage', 'beta', '--json'])
  t.match(await move(first), {
    code: 4,
    stdout: /machine \S+ owns the storage beta: run this command on its machine/
  })
  const commits = await useWhileMoving(t, move(second), id, { ask, write: alpha, read: alpha })
  await git(source, ['push', '--quiet', remote(alpha, path), 'master:late'])
  const { json } = await ask<unknown[]>(beta, 'GET', `/projects/${id}/repository/commits?per_page=100`)
  t.equal(json.length, Math.min(commits + 1, 100), 'no commit is lost or doubled')
})

t.test('a machine that stands still with its connections is missed for seconds', async t => {
  const { id, path } = await projectOn('beta')
  await git(source, ['push', '--quiet', remote(alpha, path), 'master'])
  const { server = 0 } = beta.processes()
  process.kill(server, 'SIGSTOP')
  const began = performance.now()
  const after = () => t.comment(`after ${Math.round(performance.now() - began)} ms`)
  const commit = { branch_name: 'master', file_path: 'still', content: 'x', commit_message: 'Maybe' }
  const written = ask(alpha, 'POST', `/projects/${id}/repository/files`, commit).finally(after)
  const pushed = git(source, ['push', '--quiet', remote(alpha, path), 'master:still']).finally(after)
  const read = ask(alpha, 'GET', `/projects/${id}/repository/commits/master`).finally(after)
  t.equal((await written).status, 503, 'nobody knows whether it was written')
  t.equal((await read).status, 200, 'a read waits for the next owner')
  await pushed
  process.kill(server, 'SIGCONT')
  await git(source, ['push', '--quiet', remote(beta, path), 'master:again'])
})

t.test('the other machine takes over the storage of one that dies', async t => {
  const { id, path } = await projectOn('beta')
  await git(source, ['push', '--quiet', remote(alpha, path), 'master'])
  await killMachine(beta)
  const began = performance.now()
  const copying = commandOn(first, ['backup', 'create', '--to', join(folder, 'backups'), '--json'])
  const { status } = await ask(alpha, 'GET', `/projects/${id}/repository/commits/master`)
  t.equal(status, 200, 'a request waits for the new owner')
  t.comment(`after ${Math.round(performance.now() - began)} ms`)
  const { code, stdout, stderr } = await copying
  t.equal(code, 0, `a backup waits, too: ${stdout}${stderr}`)
  await git(source, ['push', '--quiet', remote(alpha, path), 'master:later'])
  beta = await startMachine(second)
  await git(source, ['push', '--quiet', remote(beta, path), 'master:latest'])
  const { json } = await ask<{ name: string }[]>(beta, 'GET', `/projects/${id}/repository/branches`)
  t.match(
    json.map(one => one.name),
    ['later', 'latest', 'master']
  )
})
