// The stock client of git LFS pushes between the steps that remove unused objects. Whatever it pushed is there afterwards.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findLinks } from '../../../../src/areas/projects/lfs/objects.js'
import { lastRefChange, unlinkIdle } from '../../../../src/areas/projects/lfs/unused.js'
import { runTask } from '../../../../src/areas/upkeep/maintenance/maintenance.js'
import { config } from '../../../../src/config.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { nameOfLfsObject } from '../../../../src/storage/lfs.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin, type TestProject } from '../../../helpers/factory.js'
import { until } from '../../../helpers/until.js'
import { remoteUrl } from '../../../scenarios/client.js'
import { hashOf, lfsClient, listen, workingCopy } from '../../../server/lfs/client.js'

const app = await testApp(t)
const url = await listen(app)
const folder = t.testdir()
const client = await lfsClient(folder)
const DAY = 86_400_000
const ago = (days: number) => new Date(Date.now() - days * DAY)

const remoteOf = ({ path, owner }: TestProject) => remoteUrl(url, path, owner.username, owner.privateToken)
let copies = 0

/** A working copy with a branch `gone` whose large file only the server's store has: the branch is deleted, long ago. */
async function withUnused(project: TestProject) {
  const path = join(folder, `copy-${++copies}`)
  await workingCopy(client, path, remoteOf(project))
  await client.git(path, 'add', '.')
  await client.git(path, 'commit', '--quiet', '-m', 'Begin')
  await client.git(path, 'push', '--quiet', 'origin', 'master')
  await client.git(path, 'checkout', '--quiet', '-b', 'gone')
  const bytes = randomBytes(2000)
  writeFileSync(join(path, 'large.bin'), bytes)
  await client.git(path, 'add', '.')
  await client.git(path, 'commit', '--quiet', '-m', 'Add')
  await client.git(path, 'push', '--quiet', 'origin', 'gone')
  await client.git(path, 'push', '--quiet', 'origin', ':gone')
  // Otherwise the client knows that the server has the file, and does not ask.
  await client.git(path, 'update-ref', '-d', 'refs/remotes/origin/gone')
  await age()
  return { path, bytes, oid: hashOf(bytes) }
}

async function age(): Promise<void> {
  await execute('update lfs_links set touched_at = ?', [ago(15)])
  await execute('update lfs_objects set touched_at = ?', [ago(15)])
}

async function clean(): Promise<void> {
  await execute('delete from lfs_scans')
  for (const task of ['lfs_links', 'lfs_objects']) {
    const { error, report } = await runTask(task, {}, someOrigin)
    if (error !== null || (report.failed ?? 0) !== 0) throw new Error(`${error} ${report.notes.join()}`)
  }
}

/** What a new clone has in a branch. */
async function cloned(project: TestProject, branch: string): Promise<Buffer> {
  const name = `clone-${++copies}`
  await client.git(folder, 'clone', '--quiet', '--branch', branch, remoteOf(project), name)
  return readFileSync(join(folder, name, 'large.bin'))
}

const has = async ({ id }: TestProject, oid: string) => (await findLinks(id, [oid])).has(oid)
const isStored = (oid: string) => existsSync(join(config().home, nameOfLfsObject(oid)))

t.test('files that arrive before their push stay, however late it comes', async t => {
  const project = await app.make.project()
  const { path, bytes, oid } = await withUnused(project)
  const lastChange = await lastRefChange(project.id)
  // The search has read the refs. Now the client learns that the server has the file.
  await client.git(path, 'lfs', 'push', 'origin', 'gone')
  t.equal(await unlinkIdle(project.id, { oids: [oid], before: ago(14), lastChange }), 0)
  await clean()
  t.ok(await has(project, oid))
  await client.git(path, 'push', '--quiet', '--no-verify', 'origin', 'gone:late')
  await age()
  await clean()
  t.same(await cloned(project, 'late'), bytes)
})

t.test('a push after the search keeps its files, even if the client did not ask', async t => {
  const project = await app.make.project()
  const { path, bytes, oid } = await withUnused(project)
  const lastChange = await lastRefChange(project.id)
  await client.git(path, 'push', '--quiet', '--no-verify', 'origin', 'gone:again')
  t.equal(await unlinkIdle(project.id, { oids: [oid], before: ago(14), lastChange }), null)
  await clean()
  t.same(await cloned(project, 'again'), bytes)
})

t.test('a push after the removal of the link, or of the object, sends the file again', async t => {
  const project = await app.make.project()
  const { path, bytes, oid } = await withUnused(project)
  await clean()
  t.same([await has(project, oid), isStored(oid)], [false, true])
  await client.git(path, 'push', '--quiet', 'origin', 'gone:one')
  t.same(await cloned(project, 'one'), bytes)
  await client.git(path, 'push', '--quiet', 'origin', ':one')
  await client.git(path, 'update-ref', '-d', 'refs/remotes/origin/one')
  await age()
  await clean()
  await age()
  await clean()
  t.notOk(isStored(oid))
  await client.git(path, 'push', '--quiet', 'origin', 'gone:two')
  t.same(await cloned(project, 'two'), bytes)
})

t.test('a push during the removal of the object waits for its end', async t => {
  const project = await app.make.project()
  const { path, bytes, oid } = await withUnused(project)
  await clean()
  // A process was killed between the mark and the removal.
  await execute('update lfs_objects set removing_at = now(3) - interval 2 hour where oid = ?', [oid])
  let refused = 0
  app.fastify.server.prependListener('request', (request, response) => {
    response.once('finish', () => {
      if (request.method === 'PUT' && response.statusCode === 503) refused++
    })
  })
  const pushing = client.tryGit(path, 'push', '--quiet', 'origin', 'gone:three')
  await until('the upload is refused', () => refused > 0)
  await runTask('lfs_objects', {}, someOrigin)
  const pushed = await pushing
  t.ok(pushed.ok, pushed.stderr)
  t.same(await cloned(project, 'three'), bytes)
})

t.test('an object stays for the project that sends it while another one loses it', async t => {
  const [one, other] = [await app.make.project(), await app.make.project()]
  const { path, bytes, oid } = await withUnused(one)
  await client.git(path, 'remote', 'add', 'other', remoteOf(other))
  await client.git(path, 'push', '--quiet', 'other', 'gone')
  await clean()
  await age()
  await clean()
  t.same([await has(one, oid), await has(other, oid)], [false, true])
  t.same(await cloned(other, 'gone'), bytes)
})
