// Mirrors on two machines: a mirror runs where the storage of its project is, and when that machine dies in the middle, the other one
// begins again.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import type { Appliance } from './appliance.js'
import { eventually, git } from './client.js'
import { rowsAt } from './rows.js'
import { killMachine, startMachine, twoMachines } from './two-machines.js'

t.setTimeout(600_000)

const { database, first, second, source, ask, remote, projectOn } = await twoMachines(t, {
  name: 'mirrors',
  shared: true
})
const alpha = await startMachine(first)
const beta = await startMachine(second)
t.teardown(() => Promise.all([alpha.stop(), beta.stop()]))

/** The pull mirror of a project. */
const mirrorOf = async (id: number) =>
  (await ask<{ state: string; last_error: string | null }>(alpha, 'GET', `/projects/${id}/mirror/pull`)).json

/** The process that runs the mirror of a project. */
const runnerOf = async (id: number) => {
  const [found] = await rowsAt<{ pid: number }>(
    database.href,
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

writeFileSync(join(source, 'large'), randomBytes(300_000))
await git(source, ['add', '.'])
await git(source, ['commit', '--quiet', '-m', 'Add a large file'])
const both = [alpha, beta]
const { path } = await projectOn(both, 'alpha', 'remote')
await git(source, ['push', '--quiet', remote(alpha, path), 'master', 'master:topic'])

const branchesOf = async (id: number) =>
  (await ask<{ name: string }[]>(alpha, 'GET', `/projects/${id}/repository/branches`)).json.map(({ name }) => name)

const stalling = await stallingPort(alpha)
const follow = (at: Appliance, id: number) =>
  ask(at, 'PUT', `/projects/${id}/mirror/pull`, { url: remote(stalling, path) })
const onAlpha = await projectOn(both, 'alpha', 'on-alpha')
const onBeta = await projectOn(both, 'beta', 'on-beta')

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
  await killMachine(beta)
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
