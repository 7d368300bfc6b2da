// Comments on commits come from API v3, with their lines. The source listens here, and the target is another group of the same appliance.
import t from 'tap'
import { addMigration, findMigration } from '../../../../src/areas/migrate/runs/migrations.js'
import { runMigration } from '../../../../src/areas/migrate/runs/run.js'
import { config, loadConfig } from '../../../../src/config.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin } from '../../../helpers/factory.js'
import { listen } from '../../../server/lfs/client.js'

const app = await testApp(t)
const { home } = config()
loadConfig({ home, hooks: { allow: ['127.0.0.1'] } })
t.teardown(() => void loadConfig({ home }))
const url = await listen(app)

t.test('comments on commits come on request', async t => {
  const source = await app.make.project()
  await app.make.file(source, 'a.txt', 'one\n')
  const owner = app.as(source.owner)
  const below = 'repository/commits/master/comments'
  const at = (path: string) => `/projects/${encodeURIComponent(path)}/${below}`
  const line = { path: 'a.txt', line: 1, line_type: 'new' }
  // A new comment names the commit itself.
  const { id } = (await owner.get(`/projects/${source.id}/repository/commits/master`)).json()
  const own = `/projects/${source.id}/repository/commits/${id}/comments`
  for (const body of [{ note: 'On a line', ...line }, { note: 'On the commit' }])
    t.equal((await owner.post(own, body)).statusCode, 201)
  const place = await app.make.group({ owner: source.owner })
  const [namespace = '', name] = source.path.split('/')
  const map = { [namespace]: place.path }
  const settings = { kind: 'gitlab3', url, map, people: {}, rate: 1000, keys: false, comments: true }
  await addMigration('comments', (await app.make.admin()).privateToken, settings, someOrigin)
  const { projects } = await runMigration(
    await findMigration('comments'),
    { projects: [source.path], overwrite: false },
    { origin: someOrigin, signal: new AbortController().signal }
  )
  t.match(projects, [{ result: 'created' }])
  const there = (await owner.get(at(source.path))).json()
  t.match(there, [{ note: 'On a line', ...line }, { note: 'On the commit' }])
  t.same((await owner.get(at(`${place.path}/${name}`))).json(), there)
})
