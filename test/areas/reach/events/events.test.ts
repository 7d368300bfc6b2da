import { GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'
import { makeMergeRequest, makeProject } from '../../planning/merge-requests/make-merge-requests.js'

interface Shown {
  readonly action_name: string
}
const actions = (events: Shown[]) => events.map(({ action_name }) => action_name)

t.test('events', async t => {
  const app = await testApp(t)
  const project = await app.make.project()
  await app.make.file(project, 'a', 'x')
  await app.runJobs()
  const path = `/projects/${project.id}/events`

  t.test('lists the events of a project, newest first', async t => {
    const res = await app.as(project.owner).get(path)
    t.match(res.json(), [
      {
        title: null,
        project_id: project.id,
        action_name: 'pushed new',
        target_id: null,
        target_type: null,
        author_id: project.owner.id,
        data: { ref: 'refs/heads/master', commits: Array, total_commits_count: 1 },
        author: { id: project.owner.id, username: project.owner.username },
        author_username: project.owner.username
      },
      { action_name: 'created', data: null }
    ])
    t.equal(res.headers['x-total'], '2')
    t.equal((await app.as(project.owner).get(path, { per_page: 1 })).json().length, 1)
  })

  t.test('a guest who may not read the repository sees no pushes', async t => {
    const guest = await app.make.member(project, GUEST)
    const reporter = await app.make.member(project, REPORTER)
    t.same(actions((await app.as(guest).get(path)).json()), ['created'])
    t.same(actions((await app.as(reporter).get(path)).json()), ['pushed new', 'created'])
    const mine = `/users/${project.owner.id}/events`
    t.same(actions((await app.as(guest).get(mine)).json()), ['created'])
    t.same(actions((await app.as(reporter).get(mine)).json()), ['pushed new', 'created'])
  })

  t.test('lists the events of a user, only in projects that the caller can see', async t => {
    const mine = `/users/${project.owner.id}/events`
    t.same((await app.as(await app.make.user()).get(mine)).json(), [])
    t.same(actions((await app.as(await app.make.admin()).get(mine)).json()), ['pushed new', 'created'])
    t.equal((await app.as(project.owner).get('/users/999999/events')).statusCode, 404)
  })
})

t.test('events of issues are shown to people who may see the issues', async t => {
  const app = await testApp(t)
  const project = await app.make.project({ visibility_level: 20 })
  const author = await app.make.user()
  const issues = `/projects/${project.id}/issues`
  const open = (await app.as(author).post(issues, { title: 'open' })).json()
  await app.as(author).post(issues, { title: 'secret', confidential: true })
  const gone = (await app.as(author).post(issues, { title: 'gone' })).json()
  await app.as(author).put(`${issues}/${open.id}`, { state_event: 'close' })
  await app.runJobs()
  await app.as(project.owner).delete(`${issues}/${gone.id}`)
  const titles = async (by = app.nobody, path = `/projects/${project.id}/events`) =>
    (await by.get(path)).json().flatMap(({ target_title: title }: { target_title: string | null }) => title ?? [])
  const seen = ['open', 'open']
  const all = ['open', 'secret', 'open']
  t.same(await titles(), seen)
  const stranger = app.as(await app.make.user())
  for (const path of [undefined, `/users/${author.id}/events`]) {
    t.same(await titles(stranger, path), seen)
    t.same(await titles(app.as(author), path), all)
    t.same(await titles(app.as(project.owner), path), all)
    t.same(await titles(app.as(await app.make.member(project, REPORTER)), path), all)
    t.same(await titles(app.as(await app.make.member(project, GUEST)), path), seen)
  }
  await app.as(project.owner).put(`/projects/${project.id}`, { issues_enabled: false })
  t.same(await titles(), [])
})

t.test('events of features that a project has switched off are shown to nobody', async t => {
  const app = await testApp(t)
  const project = await makeProject({ visibility_level: 20, snippets_enabled: true })
  const base = `/projects/${project.id}`
  const owner = app.as(project.owner)
  const issue = (await owner.post(`${base}/issues`, { title: 'Issue' })).json()
  const mergeRequest = await makeMergeRequest(project, { title: 'Merge request' })
  const level = { visibility_level: 10 }
  const snippet = (
    await owner.post(`${base}/snippets`, { title: 'Snippet', file_name: 'a', code: 'x', ...level })
  ).json()
  const about = [`issues/${issue.id}`, `merge_requests/${mergeRequest.id}`, `snippets/${snippet.id}`]
  for (const one of about) await owner.post(`${base}/${one}/notes`, { body: 'A note' })
  await app.runJobs()
  const [stranger, admin] = [app.as(await app.make.user()), app.as(await app.make.admin())]
  const external = app.as(await app.make.user({ external: true }))
  const titles = async (asker: typeof owner, path: string) => {
    const events: { target_title: string | null }[] = (await asker.get(path)).json()
    return [...new Set(events.flatMap(({ target_title: title }) => title ?? []))].sort()
  }
  const paths = [`${base}/events`, `/users/${project.owner.id}/events`]
  const all = ['Issue', 'Merge request', 'Snippet']
  for (const path of paths) {
    for (const asker of [owner, stranger, admin]) t.same(await titles(asker, path), all)
    t.same(await titles(external, path), ['Issue', 'Merge request'], 'an internal snippet')
  }
  for (const [name, title] of [
    ['issues', 'Issue'],
    ['merge_requests', 'Merge request'],
    ['snippets', 'Snippet']
  ]) {
    await owner.put(base, { [`${name}_enabled`]: false })
    for (const path of paths) {
      for (const asker of [owner, stranger, admin]) {
        t.same(
          await titles(asker, path),
          all.filter(other => other !== title),
          `${name} off`
        )
      }
    }
    await owner.put(base, { [`${name}_enabled`]: true })
  }
})
