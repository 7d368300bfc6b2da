import { loadConfig } from '../../../../src/config.js'
import { row } from '../../../../src/db/connect/sql.js'
import { Hook } from '../../../../src/db/models/index.js'
import { testApp } from '../../../helpers/app.js'
import { testDatabase } from '../../../helpers/database.js'
import type { TestProject } from '../../../helpers/factory.js'
import t, { type Test } from '../../../helpers/tap.js'
import { receiver } from '../../../webhooks/receiver.js'

await testDatabase()
process.env.GITSTEAD_HOOKS_ALLOW = '127.0.0.1'
loadConfig({ port: 0 })
const app = await testApp(t)

/** A commit that changes line 2 of five and removes the fifth. */
async function subject(_: Test) {
  const project = await app.make.project()
  await app.make.file(project, 'dir/a file', '1\n2\n3\n4\n5\n')
  const res = await app.as(project.owner).put(`/projects/${project.id}/repository/files`, {
    file_path: 'dir/a file',
    branch_name: 'master',
    content: '1\ntwo\n3\n4\n',
    commit_message: 'Change'
  })
  t.equal(res.statusCode, 200)
  const { id } = (await app.as(project.owner).get(`/projects/${project.id}/repository/commits/master`)).json()
  return { project, sha: id as string }
}

const comments = ({ id }: TestProject, sha: string) => `/projects/${id}/repository/commits/${sha}/comments`

t.test('POST comments', async t => {
  const { project, sha } = await subject(t)
  const post = (body: object, at = sha) => app.as(project.owner).post(comments(project, at), body)

  t.test('about a commit', async t => {
    const res = await post({ note: 'Well done' }, sha.slice(0, 6).toUpperCase())
    t.equal(res.statusCode, 201)
    t.match(res.json(), {
      note: 'Well done',
      path: null,
      line: null,
      line_type: null,
      author: { id: project.owner.id, username: project.owner.username },
      created_at: /T/
    })
    t.notOk('id' in res.json())
  })

  for (const [line, line_type, known] of [
    [2, undefined, true],
    [2, 'new', true],
    [2, 'old', true],
    [5, 'old', true],
    [5, 'new', false],
    [1, 'new', false],
    [1, 'old', false],
    [0, 'new', false]
  ] as const) {
    t.test(`about line ${line} ${line_type}`, async t => {
      const res = await post({ note: 'Here', path: 'dir/a file', line, line_type })
      const place = known ? ['dir/a file', line, line_type ?? 'new'] : [null, null, null]
      const { path, line: at, line_type: side } = res.json()
      t.same([res.statusCode, path, at, side], [201, ...place])
    })
  }

  t.test('about the first commit, and files that it does not change', async t => {
    const first = (await app.as(project.owner).get(`/projects/${project.id}/repository/commits/master`)).json()
      .parent_ids[0]
    t.match((await post({ note: 'n', path: 'dir/a file', line: 5 }, first)).json(), { line: 5, line_type: 'new' })
    for (const path of ['nothing', 'dir', '../x', '-x', ':(glob)*', '']) {
      t.match((await post({ note: 'n', path, line: 2 })).json(), { path: null, line: null }, path)
    }
  })

  t.test('refuses what is wrong', async t => {
    t.match((await post({ note: 'n', path: 'dir/a file' })).json(), { error: 'line is missing' })
    t.match((await post({})).json(), { error: 'note is missing' })
    t.equal((await post({ note: 'n' }, 'master')).statusCode, 400)
    t.match((await post({ note: 'n', path: 'x', line: 1, line_type: 'both' })).json(), {
      error: 'line_type does not have a valid value'
    })
    t.same((await post({ note: 'n' }, '0'.repeat(40))).json(), { message: '404 Commit Not Found' })
  })
})

t.test('GET comments gives pages, oldest first, of one commit', async t => {
  const { project, sha } = await subject(t)
  for (const note of ['one', 'two', 'three']) await app.as(project.owner).post(comments(project, sha), { note })
  const res = await app.as(project.owner).get(comments(project, 'master'), { per_page: 2, page: 1 })
  t.equal(res.headers['x-total'], '3')
  t.same(
    res.json().map(({ note }: { note: string }) => note),
    ['one', 'two']
  )
  t.same((await app.as(project.owner).get(comments(project, 'master~1'))).statusCode, 404)
  t.same((await app.as(project.owner).get(comments(project, 'nowhere'))).json(), { message: '404 Commit Not Found' })
})

t.test('a comment is sent to hooks of the project and to its activity', async t => {
  const { project, sha } = await subject(t)
  const { port, received } = await receiver(t, response => response.end())
  await Hook.create({ projectId: project.id, url: `http://127.0.0.1:${port}/`, pushEvents: false, noteEvents: true })
  await app.runJobs()
  await app.as(project.owner).post(comments(project, sha), { note: 'Look', path: 'dir/a file', line: 2 })
  await app.runJobs()
  const [told] = received
  t.equal(received.length, 1)
  t.equal(told?.headers['x-gitstead-event'], 'Note Hook')
  t.match(JSON.parse(told?.body ?? ''), {
    object_kind: 'note',
    project_id: project.id,
    user: { username: project.owner.username },
    object_attributes: { note: 'Look', noteable_type: 'Commit', commit_id: sha, line_code: /^[0-9a-f]{40}_0_2$/ },
    commit: { id: sha, message: 'Change' }
  })
  const entry = await row<{ target_type: string }>(
    "select target_type from activity_events where project_id = ? and action = 'commented on'",
    [project.id]
  )
  t.equal(entry?.target_type, 'Note')
})
