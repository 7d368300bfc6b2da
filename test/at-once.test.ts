// Events whose effects are written in the transaction of the change. Whatever a listener would do, it must either be done at once or
// have a job.
import { atOnce } from '../src/at-once.js'
import { execute, row, rows } from '../src/db/connect/sql.js'
import { listeners } from '../src/listeners.js'
import { testApp } from './helpers/app.js'
import { waitingEvents } from './helpers/published.js'
import { statementsInside } from './helpers/statements.js'
import t from './helpers/tap.js'

const { as, make, runJobs } = await testApp(t)

/** A project whose owner has an issue list, and nobody waits for anything. */
async function subject() {
  const project = await make.project()
  const owner = as(project.owner)
  await runJobs()
  await execute('delete from jobs')
  const issues = `/projects/${project.id}/issues`
  const create = async (more: object = {}) => (await owner.post(issues, { title: 'plain', ...more })).json()
  const isInActivity = async (id: number) =>
    (await row("select 1 from activity_events where target_type = 'Issue' and target_id = ?", [id])) !== undefined
  return { project, owner, create, isInActivity, path: `/projects/${project.id}` }
}

const quietForADay = async ({ project }: Pick<Awaited<ReturnType<typeof subject>>, 'project'>) =>
  void (await execute('update projects set last_activity_at = now(3) - interval 1 day where id = ?', [project.id]))

const names = async () => (await rows<{ name: string }>('select name from jobs order by id')).map(({ name }) => name)

t.test('every listener to such an event is covered', async t => {
  for (const [kind, { listeners: covered }] of Object.entries(atOnce)) {
    const all = listeners.filter(({ on }) => Object.hasOwn(on, kind)).map(({ name }) => name)
    t.same([...covered].sort(), all.sort(), kind)
  }
})

t.test('a new issue without receivers has no job', async t => {
  const { create, isInActivity } = await subject()
  const { id } = await create()
  t.same(await names(), [])
  t.ok(await isInActivity(id))
})

t.test('people who may hear about a new issue are only looked for where there can be any', async t => {
  const { create, owner, path } = await subject()
  const searches = async () => (await statementsInside(create)).filter(sql => sql.includes('hearers')).length
  t.equal(await searches(), 0)
  await owner.put(`${path}/notification_settings`, { level: 'watch' })
  t.equal(await searches(), 1)
})

t.test('issues that writers create together are all in the activity, each once', async t => {
  const { create, project } = await subject()
  const made = await Promise.all(Array.from({ length: 20 }, (_, at) => create({ title: `issue ${at}` })))
  t.same(await names(), [])
  const found = await rows<{ id: number }>(
    "select target_id as id from activity_events where project_id = ? and target_type = 'Issue' order by id",
    [project.id]
  )
  t.same(found.map(({ id }) => id).sort(), made.map(({ id }) => id).sort())
})

t.test('a new issue has a job as soon as anybody may wait for it', async t => {
  const waits: { readonly [what: string]: (of: Awaited<ReturnType<typeof subject>>) => Promise<object | undefined> } = {
    'a hook': async ({ owner, path }) =>
      void (await owner.post(`${path}/hooks`, { url: 'http://x.example', issues_events: true })),
    'a member who watches the project': async ({ project, path }) => {
      const member = await make.user()
      await make.member(project, 30, member)
      await as(member).put(`${path}/notification_settings`, { level: 'watch' })
      return undefined
    },
    'a member who watches everything': async ({ project }) => {
      const member = await make.user()
      await make.member(project, 30, member)
      await as(member).put('/notification_settings', { level: 'watch' })
      return undefined
    },
    'a subscriber of its label': async ({ project, owner, path }) => {
      const member = await make.user()
      await make.member(project, 30, member)
      await owner.post(`${path}/labels`, { name: 'bug', color: '#ff0000' })
      const label = await row<{ id: number }>('select id from labels where project_id = ?', [project.id])
      await execute(
        `insert into subscriptions (user_id, target_type, target_id, project_id, subscribed, created_at, updated_at)
         values (?, 'Label', ?, ?, true, now(3), now(3))`,
        [member.id, label?.id ?? 0, project.id]
      )
      return { labels: 'bug' }
    },
    'a member whom it mentions': async ({ project }) => {
      const member = await make.user()
      await make.member(project, 30, member)
      return { description: `for @${member.username}` }
    },
    'its assignee': async ({ project }) => {
      const member = await make.user()
      await make.member(project, 30, member)
      return { assignee_id: member.id }
    },
    'a project that was quiet for a day': quietForADay
  }
  for (const [what, prepare] of Object.entries(waits)) {
    const all = await subject()
    const more = await prepare(all)
    await runJobs()
    const { id } = await all.create(more)
    t.match(await waitingEvents('issue.changed'), [{ issue: { id } }], what)
    t.notOk(await all.isInActivity(id), what)
    await runJobs()
    t.ok(await all.isInActivity(id), what)
  }
})

t.test('the author who watches the project needs no job', async t => {
  const { owner, create, path } = await subject()
  await owner.put(`${path}/notification_settings`, { level: 'watch' })
  await create()
  t.same(await names(), [])
})

t.test('mail about a new token or address waits at once, and is sent by the worker', async t => {
  const { owner, project } = await subject()
  await owner.post('/personal_access_tokens', { name: 'tests' })
  t.same(await names(), ['mail.send'])
  await owner.post('/user/emails', { email: 'second@example.org' })
  t.same(await names(), ['mail.send', 'mail.send', 'mail.send'])
  await runJobs()
  const sent = await rows(
    'select m.kind, d.state from mail_deliveries d join mails m on m.id = d.mail_id where d.user_id = ? order by d.id',
    [project.owner.id]
  )
  t.same(sent.slice(-3), [
    { kind: 'security', state: 'sent' },
    { kind: 'security', state: 'sent' },
    { kind: 'address-confirmation', state: 'sent' }
  ])
})

t.test('a new project has a job only for system hooks', async t => {
  const { owner } = await subject()
  const { id } = (await owner.post('/projects', { name: 'quiet' })).json()
  t.same(await names(), [])
  t.match(await rows('select action from activity_events where project_id = ?', [id]), [{ action: 'created' }])
  await as(await make.admin()).post('/hooks', { url: 'http://x.example' })
  await runJobs()
  await owner.post('/projects', { name: 'heard' })
  t.match(await waitingEvents('project.created'), [{ project: { name: 'heard' } }])
})

/** A project with a branch, whose effects have run. */
async function pushed() {
  const all = await subject()
  const { project, owner, path } = all
  await make.file(project, 'one.txt', '1')
  await runJobs()
  await execute('delete from jobs')
  await execute('delete from hooks where project_id is null')
  await execute('update projects set optimise_at = null where id = ?', [project.id])
  const file = `${path}/repository/files`
  let made = 0
  const commit = async (more: object = {}) => {
    const record = { file_path: `${++made}.txt`, branch_name: 'master', content: 'text', commit_message: 'Add a file' }
    t.equal((await owner.post(file, { ...record, ...more })).statusCode, 201)
  }
  const shown = async () => {
    const found = await row<{ data: string }>(
      "select data from activity_events where project_id = ? and action = 'pushed to' order by id desc limit 1",
      [project.id]
    )
    return found && (JSON.parse(found.data) as { commits: { message: string; added: string[] }[] }).commits
  }
  return { ...all, commit, shown }
}

t.test('a commit for which nobody waits has no job, but that of its repository', async t => {
  const { commit, shown } = await pushed()
  await commit()
  t.same(await names(), ['repository.optimise'])
  t.match(await shown(), [{ message: 'Add a file', added: ['1.txt'] }])
  await commit()
  t.same(await names(), ['repository.optimise'], 'one job for all pushes of a minute')
  t.match(await shown(), [{ added: ['2.txt'] }])
})

t.test('a push has a job as soon as anybody may wait for it', async t => {
  const waits: { readonly [what: string]: (of: Awaited<ReturnType<typeof pushed>>) => Promise<object | undefined> } = {
    'a hook of the project': async ({ owner, path }) =>
      void (await owner.post(`${path}/hooks`, { url: 'http://x.example', push_events: true })),
    'a service that sends mail': async ({ owner, path }) =>
      void (await owner.put(`${path}/services/emails-on-push`, { recipients: 'somebody@example.org' })),
    'a CI file': async ({ project }) => void (await make.file(project, '.gitlab-ci.yml', 'job: { script: make }')),
    'a merge request from the branch': async ({ project, owner, path }) => {
      await owner.post(`${path}/repository/branches`, { branch_name: 'other', ref: 'master' })
      await make.file(project, 'later.txt', '1')
      await owner.post(`${path}/merge_requests`, { source_branch: 'master', target_branch: 'other', title: 'Merge' })
      return undefined
    },
    'a merge request into the branch': async ({ project, owner, path }) => {
      await owner.post(`${path}/repository/branches`, { branch_name: 'other', ref: 'master' })
      await make.file(project, 'later.txt', '1', 'other')
      await owner.post(`${path}/merge_requests`, { source_branch: 'other', target_branch: 'master', title: 'Merge' })
      return undefined
    },
    'an issue that the commit names': async () => ({ commit_message: 'Fix #1' }),
    'a project that was quiet for a day': quietForADay
  }
  for (const [what, prepare] of Object.entries(waits)) {
    const all = await pushed()
    const more = await prepare(all)
    await runJobs()
    await all.commit(more)
    t.equal((await waitingEvents('ref.changed')).length, 1, what)
    await runJobs()
    t.not(await all.shown(), undefined, what)
  }
})

t.test('a new branch and its deletion have jobs', async t => {
  const { owner, path } = await pushed()
  await owner.post(`${path}/repository/branches`, { branch_name: 'new', ref: 'master' })
  t.equal((await waitingEvents('ref.changed')).length, 1)
  await owner.delete(`${path}/repository/branches/new`)
  t.equal((await waitingEvents('ref.changed')).length, 2)
})

t.test('a system hook for pushes receives each push', async t => {
  const { commit } = await pushed()
  await as(await make.admin()).post('/hooks', { url: 'http://x.example', push_events: true })
  await commit()
  t.equal((await waitingEvents('ref.changed')).length, 1)
})
