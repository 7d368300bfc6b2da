import t from 'tap'
import { GUEST, REPORTER } from '../../../src/lib/levels.js'
import { testApp } from '../../helpers/app.js'

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

  t.test('of a project, newest first', async t => {
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

  t.test('of a user: only in projects that the asker can see', async t => {
    const mine = `/users/${project.owner.id}/events`
    t.same((await app.as(await app.make.user()).get(mine)).json(), [])
    t.same(actions((await app.as(await app.make.admin()).get(mine)).json()), ['pushed new', 'created'])
    t.equal((await app.as(project.owner).get('/users/999999/events')).statusCode, 404)
  })
})
