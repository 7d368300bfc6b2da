// Tests the commands for issues, labels and milestones with a real database.
import { createIssue } from '../../src/areas/planning/issues/creation.js'
import { saveSetting } from '../../src/areas/reach/notifications/settings.js'
import { execute, rows } from '../../src/db/connect/sql.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { actorOf, factory, projectRow } from '../helpers/factory.js'
import { runJobs } from '../helpers/jobs.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (args: readonly (string | number)[]) => cli(args.map(String), { environment })

const project = await factory.project()
const create = async (body: object) =>
  createIssue(await projectRow(project), { title: 'x', ...body }, actorOf(project.owner))
await create({ title: 'first', labels: 'bug,ui', description: 'about it' })
await create({ title: 'second', labels: 'bug', confidential: true })

t.test('issues are listed, shown, closed and reopened', async t => {
  const list = (await run(['issues', 'list', '--project', project.path, '--label', 'bug', '--json'])).json()
  t.match(list, {
    total: 2,
    issues: [
      { number: 2, confidential: true },
      { number: 1, labels: ['bug', 'ui'] }
    ]
  })
  t.match((await run(['issues', 'list', '--all', '--json'])).json(), { total: 2 })
  t.equal((await run(['issues', 'show', project.path, 1])).stderr, '')
  t.match(await run(['issues', 'show', project.path, 1]), {
    stdout: /title: first[\s\S]*labels: bug, ui[\s\S]*\nabout it\n$/
  })
  t.match((await run(['issues', 'close', project.path, 1, 99, '--json'])).json(), {
    closed: [1],
    unchanged: [],
    failed: [{ argument: 99, error: { code: 'not_found' } }]
  })
  t.match(await run(['issues', 'close', project.path, 1]), { code: 0, stdout: 'already closed: 1\n' })
  t.match((await run(['issues', 'list', '--state', 'closed', '--limit', 1])).stdout, /closed +first/)
  t.match(await run(['issues', 'reopen', project.path, 1]), { stdout: 'reopened 1\n' })
  t.match(await rows("select action, target_name from audit_events where target_type = 'issue' order by id"), [
    { action: 'issue.close', target_name: `${project.path}#1` },
    { action: 'issue.reopen' }
  ])
  await runJobs()
})

t.test('labels of projects and groups are created, listed and deleted', async t => {
  const group = await factory.group()
  t.match(await run(['labels', 'create', 'urgent', '--group', group.path]), { stdout: /^created label urgent of/ })
  t.match(await run(['labels', 'create', 'bug', '--project', project.path]), { code: 4 })
  t.match(await run(['labels', 'create', 'x', '--color', 'red', '--group', group.path]), {
    code: 2,
    stderr: /color code/
  })
  t.match((await run(['labels', 'list', '--project', project.path, '--json'])).json(), {
    labels: [
      { title: 'bug', issues: 2, merge_requests: 0 },
      { title: 'ui', issues: 1 }
    ]
  })
  t.match(await run(['labels', 'list']), { code: 2, stderr: /--project or --group/ })
  t.match(await run(['labels', 'delete', 'bug', '--project', project.path, '--yes']), { stdout: /^deleted label bug/ })
  t.match(await run(['labels', 'delete', 'bug', '--project', project.path, '--yes']), { code: 3 })
})

t.test('milestones are created, listed, closed and activated', async t => {
  const create = ['milestones', 'create', project.path, 'v1', '--due', '2027-01-31']
  t.match((await run([...create, '--json'])).json(), { number: 1, title: 'v1' })
  t.match(await run(create), { code: 4, stderr: /taken/ })
  t.match((await run(['milestones', 'close', project.path, 'v1', 'none', '--json'])).json(), {
    closed: ['v1'],
    failed: [{ argument: 'none' }]
  })
  t.match(await run(['milestones', 'list', project.path]), { stdout: /1 +v1 +closed .*2027-01-31/ })
  t.match(await run(['milestones', 'activate', project.path, 'v1']), { stdout: 'activated milestone v1\n' })
})

t.test('notifications are explained level by level and event by event', async t => {
  const explain = (...args: string[]) => run(['notifications', 'explain', ...args])
  const { username, id, email } = project.owner
  await saveSetting({ type: 'Project', id: project.id }, id, { level: 'custom', close_issue: true })
  const found = (await explain(username, `${project.path}#1`, '--json')).json()
  t.match(found, {
    user: username,
    target: `${project.path}#1`,
    settings: { project: 'custom', group: null, global: 'participating' },
    applied: { level: 'custom', from: 'project', events: ['close_issue'] },
    member: true,
    reads: true,
    roles: ['author'],
    address: email,
    events: [
      { event: 'new_note', mail: true, why: 'you are its author' },
      { event: 'reopen_issue' },
      { event: 'close_issue' },
      { event: 'reassign_issue' },
      { event: 'label_added', mail: false, why: 'the user has not subscribed to a label of it' }
    ]
  })
  const guest = await factory.user()
  t.match(await explain(guest.username, `${project.path}#2`), {
    stdout: /may read it: no.*new_note +no +the user may not/s
  })
  await execute('update users set email_confirmed_at = null where id = ?', [id])
  const { stdout } = await explain(username, project.path)
  t.match(stdout, /switched on: close_issue\n/)
  t.match(stdout, /close_issue +no +no address of the user is confirmed\n/)
  t.match(stdout, /failed_pipeline +no +the level custom/)
  t.match(await explain(username, `${project.path}!1`), { code: 3, stderr: /no merge request has the number 1/ })
  t.match(await explain(username, '#1'), { code: 2, stderr: /expected GROUP\/PROJECT/ })
})
