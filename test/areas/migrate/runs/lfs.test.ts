// Files in LFS come along. The source listens here, and the target is another group of the same appliance.
import t from 'tap'
import { addMigration, findMigration } from '../../../../src/areas/migrate/runs/migrations.js'
import { planMigration } from '../../../../src/areas/migrate/runs/plan.js'
import { runMigration } from '../../../../src/areas/migrate/runs/run.js'
import { verifyMigration } from '../../../../src/areas/migrate/runs/verify/verify.js'
import { config, loadConfig } from '../../../../src/config.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin } from '../../../helpers/factory.js'
import { listen } from '../../../server/lfs/client.js'
import { addLfsFile, lfsContents, pointerOf } from '../../projects/lfs/pointer-files.js'

const app = await testApp(t)
const { home } = config()
const usual = { home, hooks: { allow: ['127.0.0.1'] } }
loadConfig(usual)
t.teardown(() => void loadConfig({ home }))
const url = await listen(app)
const requests: string[] = []
/** Ends the run at the request for an object with this number. */
const kill = { at: 0, ending: new AbortController() }
const isObject = (line: string) => /^GET .*\/info\/lfs\/objects\/[0-9a-f]{64}$/.test(line)
app.fastify.server.prependListener('request', ({ method, url: path }) => {
  requests.push(`${method} ${path}`)
  if (kill.at > 0 && requests.filter(isObject).length === kill.at) kill.ending.abort(new Error('killed'))
})

const source = await app.make.project()
const contents = ['one', 'two', 'three', 'four', 'five', 'six']
const oids: string[] = []
for (const content of contents) oids.push(await addLfsFile(app, source, `${content}.bin`, content))
const bytes = contents.join('').length
const admin = await app.make.admin()
const { owner } = source
const groupOf = (path: string) => path.split('/')[0] ?? ''

async function prepare(name: string): Promise<string> {
  await execute('delete from migrated_projects')
  const place = await app.make.group({ owner })
  const map = { [groupOf(source.path)]: place.path }
  const settings = { kind: 'gitlab3', url, map, people: {}, rate: 1000, keys: false }
  await addMigration(name, admin.privateToken, settings, someOrigin)
  return `${place.path}/${source.path.split('/')[1]}`
}
const given = (signal = new AbortController().signal) => ({ origin: someOrigin, signal })
const run = async (name: string, signal?: AbortSignal) => {
  requests.length = 0
  return runMigration(await findMigration(name), { projects: [source.path], overwrite: false }, given(signal))
}
const projectAt = async (path: string) => (await app.as(owner).get(`/projects/${encodeURIComponent(path)}`)).json()
const verify = async (name: string) => verifyMigration(await findMigration(name), [source.path], given())

t.test('the plan counts them, a run brings them, and verify compares', async t => {
  const path = await prepare('whole')
  const options = { projects: [source.path], quick: false }
  t.match((await planMigration(await findMigration('whole'), options, given())).projects, [
    { lfs: { files: 6, bytes } }
  ])
  t.match((await run('whole')).projects, [{ result: 'created', to: path, lfs: 6 }])
  const own = (line: string) => /^GET|\/git-upload-pack$|\/info\/lfs\/objects\/batch$/.test(line)
  t.ok(requests.every(own), 'the source is only read')
  const project = await projectAt(path)
  t.same(await lfsContents(project, oids), contents)
  t.equal(project.lfs_enabled, true)
  t.match(await verify('whole'), [{ counts: {}, different: 0, differences: [] }])
  t.match((await run('whole')).projects, [{ result: 'unchanged', lfs: 6 }])
  t.same(requests.filter(isObject), [], 'and asks for no file again')
  await execute('delete from lfs_links where project_id = ? and oid = ?', [project.id, oids[0]])
  t.match(await verify('whole'), [{ counts: { lfs: { there: 6, here: 5 } } }])
})

t.test('a run that was killed continues with the files that are missing', async t => {
  const path = await prepare('killed')
  Object.assign(kill, { at: 5, ending: new AbortController() })
  await t.rejects(run('killed', kill.ending.signal))
  kill.at = 0
  t.equal((await app.as(owner).get(`/projects/${encodeURIComponent(path)}`)).statusCode, 404, 'nothing is visible')
  t.match((await run('killed')).projects, [{ result: 'created', lfs: 6 }])
  const asked = requests.filter(isObject).length
  t.ok(asked > 0 && asked < 6, `${asked} files`)
  t.same(await lfsContents(await projectAt(path), oids), contents)
})

t.test('what the source has lost, and what has no room, is counted in the report', async t => {
  await app.make.file(source, 'lost.bin', pointerOf('b'.repeat(64), 4))
  await app.make.file(source, 'huge.bin', pointerOf('c'.repeat(64), 1e14))
  const path = await prepare('lossy')
  const [moved] = (await run('lossy')).projects
  t.match(moved, { result: 'created', lfs: 6 })
  const left = moved?.result === 'failed' ? [] : moved?.skipped.filter(({ what }) => what === 'files in LFS')
  t.match(left, [
    { count: 1, why: /lfs\.max_object_size/ },
    { count: 1, why: 'the source does not have them' }
  ])
  t.same(await lfsContents(await projectAt(path), oids), contents)
  t.match(await verify('lossy'), [{ counts: { lfs: { there: 8, here: 6 } } }])
})

t.test('the files of a project whose .lfsconfig names another server come from there', async t => {
  const [named, other] = [await app.make.project({ owner }), await app.make.project({ visibility_level: 20 })]
  const oid = await addLfsFile(app, other, 'one.bin', 'elsewhere')
  await app.make.file(named, '.lfsconfig', `[lfs]\n\turl = ${url}/${other.path}.git/info/lfs\n`)
  await app.make.file(named, 'one.bin', pointerOf(oid, 9))
  const path = `${groupOf(await prepare('named'))}/${named.path.split('/')[1]}`
  requests.length = 0
  await runMigration(await findMigration('named'), { projects: [named.path], overwrite: false }, given())
  t.same(await lfsContents(await projectAt(path), [oid]), ['elsewhere'])
})
