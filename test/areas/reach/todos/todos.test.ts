// To-dos: every trigger, and everything that marks them as done ("Todos" in the completions).
import { retryBuilds } from '../../../../src/areas/ci/builds/administer.js'
import { acceptMergeRequest } from '../../../../src/areas/planning/merge-requests/accept/accept.js'
import { applyBranchMove } from '../../../../src/areas/planning/merge-requests/branch-moves.js'
import { publicUrl } from '../../../../src/config.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { type Asker, testApp } from '../../../helpers/app.js'
import { actorOf, originBy, projectRow, someOrigin, type TestProject, type TestUser } from '../../../helpers/factory.js'
import { statementsInside, statementsOf } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { endBuild, makePipeline, pipelineOf, type TestBuild } from '../../ci/builds/make-builds.js'
import { makeBranch, makeMergeRequest, makeProject } from '../../planning/merge-requests/make-merge-requests.js'

const app = await testApp(t)

interface Shown {
  readonly id: number
  readonly action_name: string
  readonly target_type: string
  readonly author: { readonly id: number }
  readonly body: string
}

/** The to-dos of a user, such as `assigned Issue`, newest first. */
async function todosOf(asker: Asker, query = {}): Promise<string[]> {
  const list = await asker.get('/todos', query)
  if (list.statusCode !== 200) throw new Error(list.body)
  return list.json().map(({ action_name: action, target_type: type }: Shown) => `${action} ${type}`)
}

async function subject(values: Parameters<typeof app.make.project>[0] = {}) {
  const project = await makeProject(values)
  const user = await app.make.member(project, DEVELOPER)
  const [owner, me] = [app.as(project.owner), app.as(user)]
  const issues = `/projects/${project.id}/issues`
  const open = async (body: object = {}, asker: Asker = owner) => {
    const { id, iid } = (await asker.post(issues, { title: 'An issue', ...body })).json()
    return { id, iid, path: `${issues}/${id}` }
  }
  const merge = async (body: object = {}) => {
    const { id, iid } = await makeMergeRequest(project, body)
    return { id, iid, path: `/projects/${project.id}/merge_requests/${id}` }
  }
  return { project, user, owner, me, open, merge, issues }
}

t.test('the record for each kind of target', async t => {
  const { project, user, owner, me, open, merge } = await subject()
  const issue = await open({ assignee_id: user.id })
  const request = await merge({ description: `@${user.username} please` })
  const note = (await owner.post(`${issue.path}/notes`, { body: `@${user.username}: *now*` })).json()
  const { id: sha } = (await owner.get(`/projects/${project.id}/repository/commits/master`)).json()
  const about = `@${user.username} why?`
  await owner.post(`/projects/${project.id}/repository/commits/${sha}/comments`, { note: about })
  const list = (await me.get('/todos')).json()
  const web = `${publicUrl()}/${project.path}`
  const found = await projectRow(project)
  const shared = {
    project: {
      id: project.id,
      name: found.name,
      name_with_namespace: `${found.namespace_name} / ${found.name}`,
      path: found.path,
      path_with_namespace: project.path
    },
    author: (await owner.get(issue.path)).json().author,
    state: 'pending'
  }
  const commentId = (await row<{ id: number }>('select max(id) as id from notes where commit_id = ?', [sha]))?.id
  t.same(list, [
    {
      id: list[0].id,
      ...shared,
      action_name: 'mentioned',
      target_type: 'Commit',
      target: list[0].target,
      target_url: `${web}/commit/${sha}#note_${commentId}`,
      body: about,
      created_at: list[0].created_at
    },
    {
      id: list[1].id,
      ...shared,
      action_name: 'mentioned',
      target_type: 'MergeRequest',
      target: (await me.get(request.path)).json(),
      target_url: `${web}/merge_requests/${request.iid}`,
      body: 'Add a feature',
      created_at: list[1].created_at
    },
    {
      id: list[2].id,
      ...shared,
      action_name: 'assigned',
      target_type: 'Issue',
      target: (await me.get(issue.path)).json(),
      target_url: `${web}/issues/${issue.iid}`,
      body: 'An issue',
      created_at: list[2].created_at
    }
  ])
  t.match(list[0].target, { id: sha, short_id: sha.slice(0, 8), author_name: /./, message: /./ })
  const done = await me.delete(`/todos/${list[2].id}`)
  t.same([done.statusCode, done.json()], [200, { ...list[2], state: 'done' }])
  const again = (await owner.post(`${issue.path}/notes`, { body: `@${user.username}: *soon*` })).json()
  const [noted] = (await me.get('/todos')).json()
  t.match(noted, { target_type: 'Issue', body: again.body, target_url: `${web}/issues/${issue.iid}#note_${again.id}` })
  t.not(note.id, again.id)
})

/** Everything that a trigger needs to cause a to-do for `user`. */
interface World {
  readonly project: TestProject
  readonly user: TestUser
  readonly owner: Asker
  readonly me: Asker
  readonly open: (body?: object, asker?: Asker) => Promise<{ id: number; path: string }>
  readonly merge: (body?: object) => Promise<{ id: number; path: string }>
  readonly issues: string
}
type Trigger = readonly [name: string, expected: string, act: (world: World) => Promise<unknown>]
const asked = ({ user }: World) => `ask @${user.username.toUpperCase()}.`

const TRIGGERS: readonly Trigger[] = [
  ['an issue created with an assignee', 'assigned Issue', ({ open, user }) => open({ assignee_id: user.id })],
  [
    'another assignee of an issue',
    'assigned Issue',
    async ({ open, owner, user }) => owner.put((await open()).path, { assignee_id: user.id })
  ],
  [
    'assigning oneself',
    'assigned Issue',
    async ({ open, me, user }) => me.put((await open()).path, { assignee_id: user.id })
  ],
  ['a merge request with an assignee', 'assigned MergeRequest', ({ merge, user }) => merge({ assignee_id: user.id })],
  [
    'another assignee of a merge request',
    'assigned MergeRequest',
    async ({ merge, owner, user }) => owner.put((await merge()).path, { assignee_id: user.id })
  ],
  ['a title', 'mentioned Issue', world => world.open({ title: asked(world) })],
  ['a description', 'mentioned Issue', world => world.open({ description: asked(world) })],
  [
    'an edited title',
    'mentioned Issue',
    async world => world.owner.put((await world.open()).path, { title: asked(world) })
  ],
  [
    'an edited description of a merge request',
    'mentioned MergeRequest',
    async world => world.owner.put((await world.merge()).path, { description: asked(world) })
  ],
  [
    'a note',
    'mentioned Issue',
    async world => world.owner.post(`${(await world.open()).path}/notes`, { body: asked(world) })
  ],
  [
    'an edited note',
    'mentioned Issue',
    async world => {
      const path = `${(await world.open()).path}/notes`
      const { id } = (await world.owner.post(path, { body: 'x' })).json()
      await world.owner.put(`${path}/${id}`, { body: asked(world) })
    }
  ],
  [
    'a comment in the older form',
    'mentioned MergeRequest',
    async world => world.owner.post(`${(await world.merge()).path}/comments`, { note: asked(world) })
  ],
  [
    'mentioning oneself',
    'mentioned Issue',
    async world => world.me.post(`${(await world.open()).path}/notes`, { body: asked(world) })
  ],
  ['marking an issue', 'marked Issue', async ({ open, me }) => me.post(`${(await open()).path}/todo`)],
  ['marking a merge request', 'marked MergeRequest', async ({ merge, me }) => me.post(`${(await merge()).path}/todo`)],
  [
    'only /todo',
    'marked Issue',
    async ({ open, me }) => {
      t.equal((await me.post(`${(await open()).path}/notes`, { body: '/todo' })).statusCode, 404)
    }
  ],
  [
    '/todo in a note',
    'marked MergeRequest',
    async ({ merge, me }) => {
      t.match((await me.post(`${(await merge()).path}/notes`, { body: 'Later.\n/todo' })).json(), { body: 'Later.' })
    }
  ]
]

t.test('triggers of to-dos', async t => {
  const project = await makeProject()
  for (const [at, [name, expected, act]] of TRIGGERS.entries()) {
    const user = await app.make.member(project, DEVELOPER)
    const [owner, me] = [app.as(project.owner), app.as(user)]
    const issues = `/projects/${project.id}/issues`
    const open = async (body: object = {}, asker = owner) => {
      const { id } = (await asker.post(issues, { title: 'An issue', ...body })).json()
      return { id, path: `${issues}/${id}` }
    }
    const merge = async (body: object = {}) => {
      await app.make.branch(project, `of-${at}`)
      const { id } = await makeMergeRequest(project, { source_branch: `of-${at}`, ...body })
      return { id, path: `/projects/${project.id}/merge_requests/${id}` }
    }
    await act({ project, user, owner, me, open, merge, issues })
    t.same(await todosOf(me), [expected], name)
    const [{ author }] = (await me.get('/todos')).json()
    const own = /oneself|marking|\/todo/.test(name)
    t.equal(author.id, own ? user.id : project.owner.id, `${name}: the author`)
    await app.runJobs()
    t.same(await todosOf(me), [expected], `${name}, after the jobs`)
    t.same(await todosOf(owner), [], `${name}: no other user gets one`)
  }
})

t.test('at most one to-do is pending for a target, and the next is added after it is done', async t => {
  const { user, owner, me, open } = await subject()
  const { path } = await open({ assignee_id: user.id, description: `@${user.username}` })
  await owner.post(`${path}/notes`, { body: `@${user.username}` })
  const refused = await me.post(`${path}/todo`)
  t.same([refused.statusCode, refused.body], [304, ''])
  t.same(await todosOf(me), ['assigned Issue'])
  t.equal((await me.delete('/todos')).body, '1')
  // The description already names the user.
  await owner.put(path, { title: `@${user.username.toUpperCase()}` })
  await app.runJobs()
  t.same(await todosOf(me), [])
  await owner.put(path, { title: 'x', description: 'y' })
  await owner.put(path, { title: `@${user.username}` })
  t.same(await todosOf(me), ['mentioned Issue'])
  t.same(await todosOf(me, { state: 'done' }), ['assigned Issue'])
})

t.test('an edited note, title or description only mentions people whom it adds', async t => {
  const { user, project, owner, me, open } = await subject()
  const group = await app.make.group({ owner: project.owner })
  const [second, third] = [await app.make.member(project), await app.make.groupMember(group, REPORTER)]
  await app.make.member(project, REPORTER, third)
  const others = [app.as(second), app.as(third)]
  const { path } = await open({ description: `@${user.username}` })
  const note = (await owner.post(`${path}/notes`, { body: `@${user.username}` })).json()
  await me.delete('/todos')
  const edit = async (at: string, body: object) => {
    await owner.put(at, body)
    await app.runJobs()
    const found = [await todosOf(me), ...(await Promise.all(others.map(each => todosOf(each))))]
    for (const each of [me, ...others]) await each.delete('/todos')
    return found.map(all => all.length)
  }
  const both = `@${user.username} and @${second.username}`
  t.same(await edit(`${path}/notes/${note.id}`, { body: both }), [0, 1, 0])
  t.same(await edit(`${path}/notes/${note.id}`, { body: `${both}, @${group.path}` }), [0, 0, 1])
  t.same(await edit(path, { description: `${both}, @${group.path}` }), [0, 1, 1])
  t.same(await edit(path, { title: both, labels: 'x' }), [0, 0, 0])
  t.same(await edit(path, { description: '@all' }), [1, 1, 1])
})

type Finish = readonly [name: string, act: (path: string, world: World) => Promise<unknown>, left?: boolean]
const FINISHES: readonly Finish[] = [
  ['a comment', (path, { me }) => me.post(`${path}/notes`, { body: 'x' })],
  ['a comment that is an emoji', (path, { me }) => me.post(`${path}/notes`, { body: ':tada:' })],
  ['closing', (path, { me }) => me.put(path, { state_event: 'close' })],
  ['/close', (path, { me }) => me.post(`${path}/notes`, { body: '/close' })],
  ['/done', (path, { me }) => me.post(`${path}/notes`, { body: '/done' })],
  ['a title', (path, { me }) => me.put(path, { title: 'Better' })],
  ['a description', (path, { me }) => me.put(path, { description: 'Better' })],
  ['an assignee', (path, { me, project }) => me.put(path, { assignee_id: project.owner.id })],
  ['a milestone', async (path, { me, project }) => me.put(path, { milestone_id: await milestoneOf(project) })],
  ['labels', (path, { me }) => me.put(path, { labels: 'new' })],
  ['an award', (path, { me }) => me.post(`${path}/award_emoji`, { name: 'tada' }), true],
  ['nothing changed', (path, { me }) => me.put(path, { title: 'Subject' }), true],
  ['time', (path, { me }) => me.post(`${path}/add_spent_time`, { duration: '1h' }), true],
  ['a subscription', (path, { me }) => me.delete(`${path}/subscription`), true],
  ['actions of others', (path, { owner }) => owner.put(path, { title: 'Better', state_event: 'close' }), true],
  ['comments of others', (path, { owner }) => owner.post(`${path}/notes`, { body: 'x' }), true]
]

async function milestoneOf(project: TestProject): Promise<number> {
  const sql = 'select coalesce(max(iid), 0) + 1 as iid from milestones where project_id = ?'
  const next = await row<{ iid: number }>(sql, [project.id])
  const { insertId } = await execute(
    'insert into milestones (project_id, iid, title, created_at, updated_at) values (?, ?, uuid(), now(), now())',
    [project.id, next?.iid ?? 1]
  )
  return insertId
}

t.test('actions of the user mark a to-do as done, and those of others do not', async t => {
  const world = await subject()
  const { project, me, open } = world
  await me.post(`${(await open({ title: 'Another one' })).path}/todo`)
  for (const kind of ['Issue', 'MergeRequest'] as const) {
    for (const [at, [name, act, left = false]] of FINISHES.entries()) {
      const branch = `of-${kind}-${at}`
      if (kind === 'MergeRequest') await app.make.branch(project, branch)
      const { path } =
        kind === 'Issue'
          ? await open({ title: 'Subject' })
          : await world.merge({ title: 'Subject', source_branch: branch, target_branch: 'master' })
      t.equal((await me.post(`${path}/todo`)).statusCode, 201)
      await act(path, world)
      const found = (await me.get('/todos', { per_page: 100 })).json()
      const still = found.some(({ target }: { target: { title: string } }) => target.title !== 'Another one')
      t.equal(still, left, `${name} of ${kind}`)
      if (still) await me.delete(`/todos/${found[0].id}`)
    }
  }
  t.same(await todosOf(me), ['marked Issue'], 'to-dos about other things stay')
})

t.test('another target branch, a merge and a push mark to-dos about a merge request as done', async t => {
  const world = await subject()
  const { project, me, user, merge } = world
  const { id, path } = await merge()
  await makeBranch(project, 'other')
  await me.post(`${path}/todo`)
  await me.put(path, { target_branch: 'other' })
  t.same(await todosOf(me), [])
  await me.post(`${path}/todo`)
  await app.as(project.owner).post(`${path}/todo`)
  const file = { branch_name: 'feature', content: 'x', commit_message: 'More' }
  t.equal((await me.post(`/projects/${project.id}/repository/files`, { file_path: 'more', ...file })).statusCode, 201)
  t.same(await todosOf(me), [], 'done at once, before the merge request has its version')
  await me.post(`${path}/todo`)
  await app.runJobs()
  t.same(await todosOf(me), ['marked MergeRequest'], 'the job of the push comes too late to change it')
  t.same(await todosOf(app.as(project.owner)), ['marked MergeRequest'], 'the to-do of another user stays')
  await me.post(`/projects/${project.id}/repository/files`, { file_path: 'y', ...file, branch_name: 'other' })
  t.same(await todosOf(me), ['marked MergeRequest'], 'a push to another branch has no effect')
  await me.put(path, { target_branch: 'master' })
  await me.post(`${path}/todo`)
  await app.runJobs()
  await acceptMergeRequest(await projectRow(project), id, {}, actorOf(project.owner), originBy(project.owner))
  t.same(await todosOf(app.as(project.owner)), [])
  t.same(await todosOf(me), ['marked MergeRequest'])
  t.ok(user.id)
})

t.test('slash commands that do not apply stay in the text', async t => {
  const { me, open } = await subject()
  const { path } = await open()
  t.match((await me.post(`${path}/notes`, { body: '/done' })).json(), { body: '/done' })
  await me.post(`${path}/todo`)
  t.match((await me.post(`${path}/notes`, { body: '/todo' })).json(), { body: '/todo' })
  t.same(await todosOf(me), [], 'the text is a note, which marks it as done')
})

const CI =
  'one:\n  script: [x]\ntwo:\n  script: [x]\n  allow_failure: true\nthree:\n  script: [x]\n  retry: 1\nfour:\n  script: [x]\n'

t.test('failed builds', async t => {
  const { project, user, owner, me, merge } = await subject()
  await makePipeline(project, CI, 'feature')
  const { id } = await merge()
  await execute('update merge_requests set author_id = ? where id = ?', [user.id, id])
  const failing = async (all: readonly TestBuild[], name: string) => {
    const build = all.find(each => each.name === name)
    if (!build) throw new Error(`no build ${name}`)
    await endBuild(build, { status: 'failed' })
    return build
  }
  const builds = await pipelineOf(project)
  await failing(builds, 'two')
  t.same(await todosOf(me), [], 'a build that may fail')
  await failing(builds, 'three')
  t.same(await todosOf(me), [], 'a build that is retried automatically')
  const failed = await failing(builds, 'one')
  t.same(await todosOf(me), ['build_failed MergeRequest'])
  t.match((await me.get('/todos')).json(), [{ author: { id: user.id } }])
  const again = await retryBuilds([failed.id], someOrigin)
  t.same(await todosOf(me), [], 'done when it is retried')
  await me.post(`/projects/${project.id}/merge_requests/${id}/todo`)
  const second = (await pipelineOf(project)).find(build => build.id === again.get(failed.id))
  if (!second) return t.fail('no retried build')
  await endBuild(second, { status: 'failed' })
  await retryBuilds([second.id], someOrigin)
  t.same(await todosOf(me), ['marked MergeRequest'], 'others stay')
  await me.delete('/todos')
  await app.make.file(project, 'more', 'x', 'feature')
  const later = await pipelineOf(project)
  await failing(later, 'one')
  t.same(await todosOf(me), [], 'the merge request does not know about the push yet')
  const push = await row<{ id: number }>('select max(id) as id from ref_changes where project_id = ?', [project.id])
  await applyBranchMove(push?.id ?? 0)
  t.same(await todosOf(me), ['build_failed MergeRequest'])
  t.same(await todosOf(owner), [])
  await me.delete('/todos')
  const { sha } = later[0] ?? { sha: '' }
  const post = (state: string) =>
    owner.post(`/projects/${project.id}/statuses/${sha}`, { state, ref: 'feature', name: 'ci' })
  t.equal((await post('failed')).statusCode, 201)
  t.same(await todosOf(me), ['build_failed MergeRequest'], 'an external status')
  await post('pending')
  t.same(await todosOf(me), [], 'the external service tries again')
  await owner.put(`/projects/${project.id}/merge_requests/${id}`, { state_event: 'close' })
  await failing(later, 'four')
  t.same(await todosOf(me), [], 'a closed merge request')
})

t.test('people who may not read the target get no to-do', async t => {
  const cases: readonly [values: object, body: object, kind: 'issue' | 'merge request', expected: readonly string[]][] =
    [
      [{ visibility_level: 0 }, {}, 'issue', ['guest', 'reporter', 'author', 'shared', 'admin']],
      [{ visibility_level: 0 }, {}, 'merge request', ['reporter', 'shared', 'admin']],
      [
        { visibility_level: 10 },
        {},
        'issue',
        ['stranger', 'guest', 'reporter', 'expired', 'author', 'shared', 'admin']
      ],
      [
        { visibility_level: 20 },
        {},
        'merge request',
        ['stranger', 'external', 'guest', 'reporter', 'expired', 'author', 'shared', 'admin']
      ],
      [{ visibility_level: 20 }, { confidential: true }, 'issue', ['reporter', 'author', 'shared', 'admin']],
      [{ visibility_level: 20, issues_enabled: false }, {}, 'issue', []]
    ]
  for (const [{ issues_enabled, ...values }, body, kind, expected] of cases as readonly [
    { issues_enabled?: boolean },
    object,
    string,
    string[]
  ][]) {
    const { project, open, merge } = await subject(values)
    const group = await app.make.group()
    await app.make.share(project, group, 30)
    const people: Record<string, TestUser> = {
      stranger: await app.make.user(),
      external: await app.make.user(),
      blocked: await app.make.member(project, REPORTER),
      guest: await app.make.member(project, GUEST),
      reporter: await app.make.member(project, REPORTER),
      expired: await app.make.member(project, REPORTER, undefined, '2001-01-01'),
      author: await app.make.member(project, GUEST),
      shared: await app.make.groupMember(group, REPORTER),
      admin: await app.make.admin()
    }
    await execute('update users u set u.external = 1 where u.id = ?', [people.external?.id ?? 0])
    await execute("update users set state = 'blocked' where id = ?", [people.blocked?.id ?? 0])
    const { path } = kind === 'issue' ? await open(body, app.as(people.author as TestUser)) : await merge({ ...body })
    if (issues_enabled === false) await execute('update projects set issues_enabled = 0 where id = ?', [project.id])
    const text = Object.values(people)
      .map(({ username }) => `@${username}`)
      .join(' ')
    // A check of the rule only: a project without issues accepts no notes.
    const res = await app.as(project.owner).post(`${path}/notes`, { body: text })
    t.equal(res.statusCode, issues_enabled === false ? 404 : 201)
    const found: string[] = []
    for (const [name, user] of Object.entries(people)) {
      if (await row('select id from todos where user_id = ?', [user.id])) found.push(name)
    }
    t.same(found, expected, `${kind} ${JSON.stringify(values)} ${JSON.stringify(body)}`)
  }
})

t.test('groups and @all, by a job', async t => {
  const { project, user, owner, me, open } = await subject({ visibility_level: 20 })
  const group = await app.make.group({ visibilityLevel: 20 })
  const [one, two] = [await app.make.groupMember(group), await app.make.groupMember(group)]
  const hidden = await app.make.group()
  const three = await app.make.groupMember(hidden)
  const { path } = await open()
  const note = (
    await owner.post(`${path}/notes`, { body: `@${group.path} and @${hidden.path}, @${one.username}` })
  ).json()
  t.same(await todosOf(app.as(one)), ['mentioned Issue'], 'users who are named get theirs at once')
  await app.as(one).post(`${path}/notes`, { body: 'I saw it' })
  t.same(await todosOf(app.as(two)), [])
  await app.runJobs()
  t.same(await todosOf(app.as(two)), ['mentioned Issue'])
  t.match((await app.as(two).get('/todos')).json(), [{ body: note.body, target_url: new RegExp(`#note_${note.id}$`) }])
  t.same(await todosOf(app.as(one)), [], 'a user who has commented since gets no second one')
  t.same(await todosOf(app.as(three)), [], 'the author does not see that group')
  await app.as(await app.make.user()).post(`${path}/notes`, { body: '@all' })
  await app.runJobs()
  t.same(await todosOf(me), [], '@all of a stranger')
  await owner.post(`${path}/notes`, { body: '@All' })
  await app.runJobs()
  t.same(await todosOf(me), ['mentioned Issue'])
  t.same(await todosOf(owner), ['mentioned Issue'], 'the author of the text is a member')
  t.ok(user.id && project.id)
})

t.test('a member who comments before the job of a mention runs gets no to-do', async t => {
  const { project, me, owner, open } = await subject()
  const group = await app.make.group()
  const { path } = await open()
  const member = await app.make.member(project, DEVELOPER)
  await app.make.groupMember(group, 50, project.owner)
  await app.make.groupMember(group, 30, member)
  await owner.post(`${path}/notes`, { body: `@${group.path}` })
  await app.as(member).post(`${path}/notes`, { body: 'I saw it already' })
  await app.runJobs()
  t.same(await todosOf(app.as(member)), [])
  t.same(await todosOf(me), [])
})

t.test('filters, pages, and the number of to-dos that were marked as done', async t => {
  const { project, user, owner, me, open, merge } = await subject()
  const other = await subject()
  await app.make.member(other.project, REPORTER, user)
  await open({ assignee_id: user.id })
  await open({ description: `@${user.username}` })
  await me.post(`${(await merge()).path}/todo`)
  await other.open({ description: `@${user.username}` })
  const cases: readonly [query: object, expected: number][] = [
    [{}, 4],
    [{ action: 'assigned' }, 1],
    [{ action: 'mentioned' }, 2],
    [{ action: 'approval_required' }, 0],
    [{ author_id: project.owner.id }, 2],
    [{ project_id: other.project.id }, 1],
    [{ type: 'MergeRequest' }, 1],
    [{ type: 'Issue', action: 'mentioned', project_id: project.id, state: 'pending' }, 1],
    [{ state: 'done' }, 0]
  ]
  for (const [query, expected] of cases) {
    const list = await me.get('/todos', query as Record<string, string>)
    t.equal(list.json().length, expected, JSON.stringify(query))
    t.equal(list.headers['x-total'], String(expected))
  }
  const all = (await me.get('/todos')).json()
  t.same(
    [...all].sort((a: Shown, b: Shown) => b.id - a.id),
    all,
    'newest first'
  )
  const second = await me.get('/todos', { per_page: 1, page: 2 })
  t.same(second.json(), [all[1]])
  t.same([second.headers['x-total'], second.headers['x-total-pages']], ['4', '4'])
  t.equal((await me.get('/todos', { page: 9 })).headers['x-total'], '4')
  t.equal((await me.delete('/todos', { action: 'mentioned', project_id: project.id })).body, '1')
  t.equal((await me.delete('/todos', { state: 'done' })).body, '0')
  t.equal((await me.delete('/todos')).json(), 3)
  t.equal((await me.delete('/todos')).json(), 0)
  t.equal((await me.get('/todos', { state: 'done' })).json().length, 4)
  t.equal((await me.delete(`/todos/${all[0].id}`)).statusCode, 200, 'a to-do that is already done')
  const foreign = await owner.delete(`/todos/${all[0].id}`)
  t.same([foreign.statusCode, foreign.json()], [404, { message: '404 Not found' }])
  for (const name of ['action', 'state', 'type']) {
    t.match((await me.get('/todos', { [name]: 'x' })).json(), { error: `${name} does not have a valid value` })
  }
})

t.test('to-dos about unreadable targets are hidden at once, and deleted when a membership ends', async t => {
  const { project, user, owner, me, open, merge } = await subject()
  const group = await app.make.group()
  const issue = await open({ assignee_id: user.id })
  await me.post(`${(await merge()).path}/todo`)
  const [about] = (await me.get('/todos')).json()
  const total = async () => (await me.get('/todos')).headers['x-total']
  for (const [sql, left] of [
    ['update projects set merge_requests_enabled = 0 where id = ?', '1'],
    ['update projects set issues_enabled = 0 where id = ?', '0'],
    ['update projects set merge_requests_enabled = 1, issues_enabled = 1 where id = ?', '2'],
    ["update members set access_level = 10 where source_type = 'project' and source_id = ?", '1'],
    ["update members set access_level = 30 where source_type = 'project' and source_id = ?", '2'],
    ["update members set expires_at = '2001-01-01' where source_type = 'project' and source_id = ?", '0']
  ] as const) {
    await execute(sql, [project.id])
    t.equal(await total(), left, sql)
  }
  t.equal((await me.delete(`/todos/${about.id}`)).statusCode, 404)
  t.equal((await me.delete('/todos')).json(), 0)
  await execute("update members set expires_at = null where source_type = 'project' and source_id = ?", [project.id])
  await owner.put(issue.path, { confidential: true, assignee_id: 0 })
  await execute("update members set access_level = 10 where source_type = 'project' and source_id = ?", [project.id])
  t.equal(await total(), '0', 'a confidential issue')
  await execute("update members set access_level = 30 where source_type = 'project' and source_id = ?", [project.id])
  t.equal(await total(), '2')
  t.equal((await owner.delete(`/projects/${project.id}/members/${user.id}`)).statusCode, 200)
  t.equal(await total(), '0')
  await app.runJobs()
  await app.make.member(project, DEVELOPER, user)
  t.equal(await total(), '0', 'a later membership does not restore them')
  await me.post(`${issue.path}/todo`)
  await app.make.share(project, group, 30)
  await app.make.groupMember(group, 30, user)
  await owner.delete(`/projects/${project.id}/members/${user.id}`)
  t.equal(await total(), '0', 'also for a user who may still read the target')
  await me.post(`${issue.path}/todo`)
  await app.runJobs()
  t.equal(await total(), '1')
  await app.as(await app.make.admin()).delete(`/groups/${group.id}/members/${user.id}`)
  await app.runJobs()
  t.equal(await row('select id from todos where user_id = ? and is_pending', [user.id]), undefined)
})

t.test('deletion of the note, the target and the author', async t => {
  const { project, user, owner, me, open, merge } = await subject()
  const issue = await open()
  const notes = `${issue.path}/notes`
  const note = (await owner.post(notes, { body: `@${user.username}` })).json()
  t.equal((await owner.delete(`${notes}/${note.id}`)).statusCode, 200)
  t.same(await todosOf(me), [])
  await me.post(`${issue.path}/todo`)
  await owner.delete(issue.path)
  const request = await merge({ assignee_id: user.id })
  t.same(await todosOf(me), ['assigned MergeRequest'])
  await owner.delete(request.path)
  t.equal(await row('select id from todos where user_id = ?', [user.id]), undefined, 'no rows are left')
  const author = await app.make.member(project, DEVELOPER)
  await owner.post(`${(await open()).path}/notes`, { body: `@${user.username}` })
  const other = await open()
  await app.as(author).post(`${other.path}/notes`, { body: `@${user.username}` })
  t.equal((await me.get('/todos')).json().length, 2)
  await app.as(await app.make.admin()).delete(`/users/${author.id}`)
  t.equal((await me.get('/todos')).headers['x-total'], '1')
  await app.runJobs()
  t.equal(await row('select id from todos where author_id = ?', [author.id]), undefined)
})

t.test('a page of many to-dos takes as many statements as a page of one', async t => {
  const { user, me, open, merge } = await subject()
  await open({ assignee_id: user.id, labels: 'a' })
  await merge({ assignee_id: user.id })
  const few = await statementsOf(() => me.get('/todos'))
  t.equal(few.length, 4, 'the caller, the page, its issues and its merge requests')
  for (let at = 0; at < 4; at++) await open({ assignee_id: user.id, labels: 'a,b' })
  const many = await statementsOf(() => me.get('/todos'))
  t.equal(many.length, few.length, many.join('\n'))
})

t.test('statements of a text: one extra without a mention, and few for ten thousand names', async t => {
  const { user, owner, me, open } = await subject()
  const { path } = await open()
  const sentFor = async (body: string) =>
    statementsInside(async () => {
      t.equal((await owner.post(`${path}/notes`, { body })).statusCode, 201)
    })
  const plain = await sentFor('nothing')
  t.same(
    plain.filter(sql => /todos|namespaces n/.test(sql)).map(sql => sql.slice(0, 12)),
    ['update todos']
  )
  const names = Array.from({ length: 20_000 }, (_, at) => `@no${at}`).join(' ')
  const many = await sentFor(`@${user.username} ${names}`)
  t.equal(
    many.length - plain.length,
    1 + 10 + 1 + 1,
    'one for the project, one for each thousand names, one for the participants, one for the to-dos'
  )
  t.same(await todosOf(me), ['mentioned Issue'])
})
