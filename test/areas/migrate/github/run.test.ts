// A whole repository of GitHub comes here.
import t from 'tap'
import { addMigration } from '../../../../src/areas/migrate/runs/migrations.js'
import { runMigration } from '../../../../src/areas/migrate/runs/run.js'
import { loadConfig } from '../../../../src/config.js'
import { rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin } from '../../../helpers/factory.js'
import { cloneable, serveGithub } from './conversation.js'

process.env.GITSTEAD_HOOKS_ALLOW = '127.0.0.1'
const app = await testApp(t)
loadConfig({})
const owner = await app.make.user()
await app.make.user({ username: 'ada.here' })
const place = await app.make.group({ owner, visibilityLevel: 20 })
const { signal } = new AbortController()

t.test('issues, merge requests and notes come with their people, dates and numbers', async t => {
  const { answers, commits } = await cloneable(t)
  const { url, received } = await serveGithub(t, answers)
  const settings = {
    kind: 'github',
    url: url.origin,
    map: { crew: place.path },
    people: { ada: 'ada.here' },
    rate: 1000
  }
  const migration = await addMigration('whole', 'sesame', { ...settings, keys: false }, someOrigin)
  const run = () =>
    runMigration(migration, { projects: ['crew/tool'], overwrite: false }, { origin: someOrigin, signal })
  const report = await run()
  t.match(report.projects, [
    { result: 'created', to: `${place.path}/tool`, counts: { issue: 2, merge_request: 3, note: 12 } }
  ])
  const asker = app.as(await app.make.admin())
  const base = `/projects/${encodeURIComponent(`${place.path}/tool`)}`
  const get = async (path: string) => (await asker.get(`${base}${path}`)).json()
  t.match(await get(''), { default_branch: 'main', visibility_level: 20, tag_list: ['cli', 'git'] })
  const [one, two] = (await get('/issues?sort=desc&order_by=created_at')) as { id: number }[]
  t.match(one, {
    ...{ iid: 1, description: 'See !3 and @ben', labels: ['one two'], milestone: { iid: 2 } },
    ...{ author: { username: 'ada.here' }, assignee: { username: 'ben' }, created_at: '2020-01-01T10:00:00.000Z' }
  })
  t.match(two, { iid: 2, state: 'closed', author: { username: 'ghost' }, created_at: '1969-07-20T20:17:40.000Z' })
  const merged = ((await get('/merge_requests?iid=3')) as { id: number }[])[0]
  t.match(merged, { iid: 3, state: 'merged', merge_commit_sha: commits.merge, sha: commits.topic })
  const { changes } = (await get(`/merge_requests/${merged?.id}/changes`)) as { changes: { diff: string }[] }
  t.equal(changes.length, 1)
  t.notMatch(changes[0]?.diff, 'four', 'the changes begin where the branch left main')
  const notes = (await get(`/merge_requests/${merged?.id}/notes?sort=asc&per_page=50`)) as { body: string }[]
  t.ok(notes.some(({ body }) => body === 'Good, see #1'))
  const places = await rows<{ path: string; line: number }>(
    'select path, line from notes where path is not null order by id'
  )
  t.same(
    places.map(({ path, line }) => [path, line]),
    [
      ['src/a.ts', 4],
      ['src/a.ts', 2],
      ['README.md', 3]
    ]
  )
  t.match(await rows('select url, enabled from hooks'), [{ url: 'https://ci.example/h', enabled: 0 }])

  const asked = received.length
  t.match((await run()).projects, [{ result: 'unchanged' }])
  const urls = received.slice(asked).map(({ url }) => url)
  t.equal(new Set(urls).size, urls.length, 'a later run asks for each page once')
})
