// The worker of a migration is killed in the middle; the next one continues.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import t from 'tap'
import { config, loadConfig } from '../../../../src/config.js'
import { testApp } from '../../../helpers/app.js'
import { testDatabase } from '../../../helpers/database.js'
import { until } from '../../../helpers/until.js'
import { startWorker } from '../../../helpers/worker-process.js'

const { home, databaseUrl } = await testDatabase()
writeFileSync(`${home}/config.yaml`, 'queue: { lease: 5, poll_interval: 0.1, concurrency: { builds: 0 } }\n')
loadConfig({ home, hooks: { allow: ['127.0.0.1'] } })
const app = await testApp(t)
const { port } = new URL(await app.fastify.listen({ host: '127.0.0.1', port: 0 }))
t.teardown(() => {
  app.fastify.server.closeAllConnections()
  loadConfig({ home: config().home })
})

const worker = () => startWorker(t, { home, databaseUrl })

/** A port that leads to the application, and answers nothing more once git asks, until `free` is called. */
async function stallingPort() {
  let [stalls, isStuck] = [true, false]
  const sockets = new Set<Socket>()
  const server = createServer(client => {
    const target = connect(Number(port), '127.0.0.1')
    for (const socket of [client, target]) {
      sockets.add(socket.on('error', () => undefined))
      socket.once('close', () => [client, target].map(each => each.destroy()))
    }
    client.on('data', chunk => {
      if (stalls && chunk.includes('git-upload-pack')) isStuck = true
      else target.write(chunk)
    })
    target.pipe(client)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    isStuck: () => isStuck,
    free: () => {
      stalls = false
    }
  }
}

t.test('a migration survives the death of its worker', async t => {
  const owner = await app.make.user()
  const group = await app.make.group({ owner })
  const source = await app.make.project({ owner, group, name: 'engine' })
  await app.make.file(source, 'README.md', 'The engine\n')
  await app.as(source.owner).post(`/projects/${source.id}/issues`, { title: 'Broken' })
  const place = await app.make.group({ owner: source.owner })
  const admin = await app.make.admin()
  const asker = app.as(admin)
  const stalling = await stallingPort()
  // The source names this URL to clone from.
  process.env.GITSTEAD_URL = `http://127.0.0.1:${stalling.port}`
  loadConfig({ home, hooks: { allow: ['127.0.0.1'] } })
  const { id } = (
    await asker.post('/migrations', {
      ...{ name: 'old', kind: 'gitlab3', url: process.env.GITSTEAD_URL, token: admin.privateToken },
      map: { [group.path]: place.path }
    })
  ).json()
  const shown = async () => (await asker.get(`/migrations/${id}`)).json()
  const victim = await worker()
  t.equal((await asker.post(`/migrations/${id}/run`, { projects: [source.path] })).statusCode, 202)
  await until('git waits for an answer', () => stalling.isStuck())
  t.match(await shown(), { state: 'running', busy: true })
  await until('the progress is shown', async () => (await shown()).progress === `fetching ${source.path}`)
  victim.kill('SIGKILL')
  await once(victim, 'exit')
  t.match(await shown(), { state: 'running', result: null })
  const to = encodeURIComponent(`${place.path}/engine`)
  t.equal((await asker.get(`/projects/${to}`)).statusCode, 404, 'nothing of it is visible')
  stalling.free()
  await worker()
  await until('the next worker continues', async () => (await shown()).state === 'succeeded')
  t.match((await shown()).result.report.projects, [{ from: source.path, result: 'created' }])
  t.equal((await asker.get(`/projects/${to}/issues`)).json().length, 1)
})
