// Mirrors on two machines: a mirror runs where the storage of its project is, and when that machine dies in the middle, the other one
// begins again.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { dropDatabase, makeDatabase, startTestServer } from '../helpers/database-server.js'
import { type Appliance, freePort, gitstead, makeUser, startAppliance } from './appliance.js'
import { askApi, eventually, git, remoteUrl } from './client.js'
import { rowsAt } from './rows.js'

t.setTimeout(600_000)

const folder = mkdtempSync(join(tmpdir(), 'gitstead-mirrors-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const database = await startTestServer()
t.teardown(() => database.stop())
const url = new URL(database.url)
await makeDatabase(url, 'mirrors', undefined)
t.teardown(() => dropDatabase(url, 'mirrors'))
url.pathname = '/mirrors'
mkdirSync(join(folder, 'shared'))

/** Prepares a machine with a storage of its own, on a file system that both machines reach. */
async function machine(storage: string) {
  const [home, port] = [join(folder, storage), await freePort()]
  mkdirSync(home, { mode: 0o700 })
  symlinkSync(join(folder, 'shared'), join(home, 'repositories'))
  const environment = {
    GITSTEAD_DATABASE_URL: url.href,
    GITSTEAD_CLUSTER_ADDRESS: `http://127.0.0.1:${port}`,
    GITSTEAD_REPOSITORIES_STORAGES: storage,
    GITSTEAD_QUEUE_LEASE: '5',
    GITSTEAD_SSH_PORT: String(await freePort())
  }
  return { home, port, environment }
}

const [first, second] = [await machine('alpha'), await machine('beta')]
await gitstead(['db', 'migrate', '--home', first.home], { environment: first.environment })
const ann = await makeUser(first.home, 'ann', ['--admin'], first.environment)
copyFileSync(join(first.home, 'secrets.json'), join(second.home, 'secrets.json'))
const machines = { alpha: await startAppliance(first), beta: await startAppliance(second) }
const { alpha, beta } = machines
t.teardown(() => Promise.all([alpha.stop(), beta.stop()]))

const ask = <T = Record<string, unknown>>(at: Appliance, method: string, path: string, body?: unknown) =>
  askApi<T>({ url: at.url, token: ann.private_token }, method, path, body)

async function projectOn(storage: string, name: string): Promise<{ id: number; path: string }> {
  // The servers keep the settings for a moment.
  for (const at of [alpha, beta]) await ask(at, 'PUT', '/application/settings', { repository_storages: [storage] })
  const { json } = await ask<{ id: number; path_with_namespace: string }>(alpha, 'POST', '/projects', { name })
  return { id: json.id, path: json.path_with_namespace }
}

/** The pull mirror of a project. */
const mirrorOf = async (id: number) =>
  (await ask<{ state: string; last_error: string | null }>(alpha, 'GET', `/projects/${id}/mirror/pull`)).json

/** The process that runs the mirror of a project. */
const runnerOf = async (id: number) => {
  const [found] = await rowsAt<{ pid: number }>(
    url.href,
    `select p.pid from mirrors m join job_processes p on p.id = substring_index(m.run, ':', 1) where m.project_id = ${id}`
  )
  return found?.pid
}

/** Bytes of answers after which the remote seems to hang. */
const ENOUGH = 64_000

/** A port that leads to a machine, and stops in the middle of each pack until `free` is called. */
async function stallingPort(to: Appliance) {
  let stalls = true
  const passed = new Map<Socket, number>()
  const server = createServer(client => {
    const target = connect(to.port, '127.0.0.1')
    passed.set(client, 0)
    for (const socket of [client, target]) {
      socket.on('error', () => undefined)
      socket.once('close', () => {
        passed.delete(client)
        for (const each of [client, target]) each.destroy()
      })
    }
    client.pipe(target)
    target.on('data', chunk => {
      const sum = (passed.get(client) ?? 0) + chunk.length
      passed.set(client, sum)
      if (stalls && sum > ENOUGH) target.pause()
      else client.write(chunk)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    for (const socket of passed.keys()) socket.destroy()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stuck: () => [...passed.values()].filter(sum => sum > ENOUGH).length,
    free: () => {
      stalls = false
    }
  }
}

const source = join(folder, 'source')
await git(folder, ['init', '--quiet', '--initial-branch=master', source])
writeFileSync(join(source, 'large'), randomBytes(300_000))
await git(source, ['add', '.'])
await git(source, ['commit', '--quiet', '-m', 'Begin'])
const remote = await projectOn('alpha', 'remote')
await git(source, [
  'push',
  '--quiet',
  remoteUrl(alpha.url, remote.path, 'ann', ann.private_token),
  'master',
  'master:topic'
])

const branchesOf = async (id: number) =>
  (await ask<{ name: string }[]>(alpha, 'GET', `/projects/${id}/repository/branches`)).json.map(({ name }) => name)

const stalling = await stallingPort(alpha)
const follow = (at: Appliance, id: number) =>
  ask(at, 'PUT', `/projects/${id}/mirror/pull`, {
    url: remoteUrl(stalling.url, remote.path, 'ann', ann.private_token)
  })
const [onAlpha, onBeta] = [await projectOn('alpha', 'on-alpha'), await projectOn('beta', 'on-beta')]

t.test('a mirror runs on the machine that owns the storage, whichever machine is asked', async t => {
  t.equal((await follow(beta, onAlpha.id)).status, 200)
  t.equal((await follow(alpha, onBeta.id)).status, 200)
  await eventually(
    () => stalling.stuck() === 2,
    () => `both mirrors fetch a pack: ${alpha.log().slice(-2000)}`
  )
  t.equal(await runnerOf(onAlpha.id), alpha.processes().worker)
  t.equal(await runnerOf(onBeta.id), beta.processes().worker)
  for (const { id } of [onAlpha, onBeta]) t.match(await mirrorOf(id), { state: 'running' })
})

t.test('a machine that dies in the middle of a run leaves the mirror to the other one', async t => {
  const { server, worker } = beta.processes()
  await beta.kill()
  for (const pid of [server, worker]) if (pid !== undefined) process.kill(pid, 'SIGKILL')
  stalling.free()
  for (const { id } of [onBeta, onAlpha]) {
    let mirror = await mirrorOf(id)
    await eventually(
      async () => {
        mirror = await mirrorOf(id)
        // The run that hung may fail first; then a person does not wait for the next attempt.
        if (mirror.state === 'failed') await ask(alpha, 'POST', `/projects/${id}/mirror/pull`)
        return mirror.state === 'succeeded'
      },
      () => `the mirror never ran again: ${JSON.stringify(mirror)} ${alpha.log().slice(-3000)}`
    )
    t.same(await branchesOf(id), ['master', 'topic'])
  }
  const { json } = await ask<{ action_name: string }[]>(alpha, 'GET', `/projects/${onBeta.id}/events`)
  t.equal(json.filter(event => event.action_name === 'pushed new').length, 2, 'each branch came once')
})
