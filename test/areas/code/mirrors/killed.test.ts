// A worker is killed in the middle of a fetch. Others still run, and the next worker begins again.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { config, loadConfig } from '../../../../src/config.js'
import { testApp } from '../../../helpers/app.js'
import { testDatabase } from '../../../helpers/database.js'
import type { TestProject } from '../../../helpers/factory.js'
import { gitWith } from '../../../helpers/trees.js'
import { until } from '../../../helpers/until.js'
import { startWorker } from '../../../helpers/worker-process.js'

const { home, databaseUrl } = await testDatabase()
writeFileSync(join(home, 'config.yaml'), 'queue: { lease: 5, poll_interval: 0.1, concurrency: { builds: 0 } }\n')
loadConfig({ home, hooks: { allow: ['127.0.0.1'] } })
const app = await testApp(t)
const { port } = new URL(await app.fastify.listen({ host: '127.0.0.1', port: 0 }))
t.teardown(() => {
  app.fastify.server.closeAllConnections()
  loadConfig({ home: config().home })
})

const worker = () => startWorker(t, { home, databaseUrl })

/** Bytes of answers after which the server seems to hang. */
const ENOUGH = 64_000

/** A port that leads to the application, and stops in the middle of a pack until `free` is called. */
async function stallingPort() {
  let [passed, stalls] = [0, true]
  const sockets = new Set<Socket>()
  const server = createServer(client => {
    const target = connect(Number(port), '127.0.0.1')
    for (const socket of [client, target]) {
      sockets.add(socket.on('error', () => undefined))
      socket.once('close', () => [client, target].map(each => each.destroy()))
    }
    client.pipe(target)
    target.on('data', chunk => {
      passed += chunk.length
      if (stalls && passed > ENOUGH) target.pause()
      else client.write(chunk)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    isStuck: () => passed > ENOUGH,
    free: () => {
      stalls = false
    }
  }
}

const refsOf = (project: TestProject) =>
  existsSync(repositoryPath(project)) ? gitWith(repositoryPath(project), ['for-each-ref', 'refs/heads']) : ''

t.test('a mirror survives the death of its worker, and others still run', async t => {
  const source = await app.make.project()
  await app.make.file(source, 'large', randomBytes(150_000).toString('base64'))
  await app.make.branch(source, 'feature')
  const [project, other] = [await app.make.project(), await app.make.project()]
  const stalling = await stallingPort()
  const follow = (of: TestProject, at: number | string) =>
    app.as(of.owner).put(`/projects/${of.id}/mirror/pull`, {
      url: `http://${source.owner.username}:${source.owner.password}@127.0.0.1:${at}/${source.path}.git`
    })
  const stateOf = async (of: TestProject) =>
    (await app.as(of.owner).get(`/projects/${of.id}/mirror/pull`)).json().state as string
  t.equal((await follow(project, stalling.port)).statusCode, 200)
  const victim = await worker()
  await until('the pack stops in the middle', () => stalling.isStuck())
  t.equal((await follow(other, port)).statusCode, 200)
  await until('another mirror still runs', async () => (await stateOf(other)) === 'succeeded')
  t.equal(await stateOf(project), 'running')
  victim.kill('SIGKILL')
  await once(victim, 'exit')
  t.equal(refsOf(project), '')
  const packs = join(repositoryPath(project), 'objects/pack')
  t.same(existsSync(packs) ? readdirSync(packs) : [], [], 'nothing of it is in the repository')
  stalling.free()
  await worker()
  await until('the next worker begins again', async () => (await stateOf(project)) === 'succeeded')
  t.equal(refsOf(project), refsOf(source))
  const pushes = async () => {
    const events = (await app.as(project.owner).get(`/projects/${project.id}/events`)).json() as object[]
    return events.filter(event => 'action_name' in event && event.action_name === 'pushed new').length
  }
  // Jobs of their own write them.
  await until('both branches have an event', async () => (await pushes()) >= 2)
  t.equal(await pushes(), 2, 'once each')
})
