// Story: when the writer of a database cluster died during a move of a project, the move ended with an error, although it had only to ask the
// next writer.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import t from 'tap'
import { updateSettings } from '../../../../src/areas/ground/settings/settings.js'
import { repositoryPath, storageOf } from '../../../../src/areas/projects/projects/repositories.js'
import { config, loadConfig } from '../../../../src/config.js'
import { rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { cli } from '../../../helpers/cli.js'
import { startTestServer } from '../../../helpers/database-server.js'
import { someOrigin } from '../../../helpers/factory.js'
import { git } from '../../../scenarios/client.js'

/** Connections that are refused after all have been cut. */
const REFUSED = 3

const server = await startTestServer()
const url = new URL(server.url)
const socketPath = url.searchParams.get('socket') ?? ''
const open = new Set<Socket>()

/** The texts that a client sends, one after the other on one connection, before the connections are cut. */
let awaited: readonly string[] = []
/** Whether the database still gets the last of them. */
let isSent = false
let refusals = 0
let cuts = 0

const proxy = createServer(client => {
  if (refusals > 0) {
    refusals -= 1
    return void client.destroy()
  }
  const database = connect(socketPath)
  let seen = 0
  let isCut = false
  client.on('data', chunk => {
    const next = awaited[seen]
    if (next !== undefined && chunk.toString('latin1').toLowerCase().includes(next)) seen += 1
    if (awaited.length === 0 || seen < awaited.length) return void database.write(chunk)
    awaited = []
    isCut = true
    cut(isSent ? database : undefined)
    if (isSent) database.write(chunk)
  })
  database.on('data', chunk => {
    // The answer shows that the database has done it.
    if (isCut) database.destroy()
    else client.write(chunk)
  })
  for (const socket of [client, database]) {
    open.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      open.delete(socket)
      client.destroy()
      if (!isCut) database.destroy()
    })
  }
})

function cut(kept: Socket | undefined): void {
  cuts += 1
  refusals = REFUSED
  for (const socket of open) if (socket !== kept) socket.destroy()
}

proxy.listen(0, '127.0.0.1')
await once(proxy, 'listening')
url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
url.search = ''
process.env.GITSTEAD_TEST_SERVER = url.href
delete process.env.GITSTEAD_TEST_SCHEMA
t.teardown(async () => {
  proxy.close()
  for (const socket of open) socket.destroy()
  await server.stop()
})

const app = await testApp(t)
loadConfig({ port: 0, repositories: { storages: ['default', 'fast'] } })
await updateSettings({ repository_storages: ['default'] }, someOrigin)
const environment = {
  ...{ GITSTEAD_HOME: config().home, GITSTEAD_DATABASE_URL: config().database.url ?? '' },
  ...{ GITSTEAD_REPOSITORIES_STORAGES: 'default,fast', GITSTEAD_LOG_LEVEL: 'silent' }
}
t.setTimeout(300_000)

for (const [when, texts, sent] of [
  ['before the copy is announced', ['insert into old_repositories'], false],
  ['before changes wait', ['set held_until ='], true],
  ['in the transaction that names the other storage', ['set storage ='], false],
  ['before its commit', ['project.move', 'commit'], false],
  ['after its commit, before the answer', ['project.move', 'commit'], true],
  ['when it releases its lock', ['delete from maintenance_locks'], true]
] as const) {
  t.test(`a move continues when the database is lost ${when}`, async t => {
    const project = await app.make.project()
    await app.make.file(project, 'README', 'one\n')
    const before = cuts
    awaited = texts
    isSent = sent
    const { code, stdout, stderr } = await cli(['projects', 'move', String(project.id), '--storage', 'fast'], {
      environment
    })
    t.equal(code, 0, stdout + stderr)
    t.equal(cuts, before + 1, 'the database was lost')
    t.equal(await storageOf(String(project.id)), 'fast')
    await git(repositoryPath({ id: project.id, storage: 'fast' }), ['fsck', '--full', '--strict'])
    t.match(await rows('select storage from old_repositories where project_id = ?', [project.id]), [
      { storage: 'default' }
    ])
    t.equal(
      (await rows("select 1 from audit_events where action = 'project.move' and target_id = ?", [project.id])).length,
      1
    )
    t.same(await rows('select task from maintenance_locks'), [])
    await app.make.file(project, 'LATER', 'two\n')
  })
}
