// Tests the commands for merge requests.
import { rows } from '../../src/db/connect/sql.js'
import { makeBranch, makeMergeRequest, makeProject } from '../areas/planning/merge-requests/make-merge-requests.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (...args: (string | number)[]) => cli(['merge-requests', ...args.map(String)], { environment })

const project = await makeProject()
await makeBranch(project, 'second')
await makeMergeRequest(project, { description: 'for all' })
await makeMergeRequest(project, { source_branch: 'second', title: 'WIP: second' })
const { username } = project.owner

t.test('merge requests are listed and shown', async t => {
  const list = await run('list', '--project', project.path)
  t.match(list.stdout, /^PROJECT +NUMBER +STATE[^\n]*\n[^ ]+ +2 +opened +WIP: second +second +master[^\n]*\n[^ ]+ +1 /)
  t.match((await run('list', '--state', 'all', '--limit', 1, '--json')).json(), {
    total: 2,
    merge_requests: [{ number: 2 }]
  })
  t.match((await run('list', '--all', '--json')).json(), { total: 2 })
  t.match((await run('show', project.path, 1)).stdout, /^number: 1$[\s\S]*\n\nfor all\n$/m)
  t.match(await run('show', project.path, 9), { code: 3, stderr: 'gitstead: no merge request has the number 9\n' })
})

t.test('merge requests are closed, reopened and merged', async t => {
  t.same((await run('close', project.path, 1, 2, 9, '--json')).json(), {
    closed: [1, 2],
    unchanged: [],
    failed: [{ argument: 9, error: { code: 'not_found', message: 'no merge request has the number 9' } }]
  })
  t.match(await run('close', project.path, 1), { code: 0, stdout: 'already closed: 1\n' })
  t.match(await run('reopen', project.path, 1, 2), { code: 0, stdout: 'reopened 1 2\n' })
  t.match(await run('merge', project.path, 1, '--user', 'nobody-at-all'), {
    code: 3,
    stderr: /no active user is called/
  })
  const merged = await run('merge', project.path, 1, 2, '--user', username, '--remove-source-branch', '--json')
  t.match(merged.json(), {
    merged: [{ number: 1, state: 'merged', merge_commit_sha: String }],
    failed: [{ argument: 2 }]
  })
  t.match(await run('merge', project.path, 1, '--user', username), {
    code: 4,
    stderr: 'gitstead: merge request 1 is merged\n'
  })
  const audited = await rows<{ action: string }>("select action from audit_events where target_type = 'merge_request'")
  t.equal(audited.length, 4)
})
