// Commits with several actions and cherry-picks, compared with the output of git.
import { execFileSync } from 'node:child_process'
import { MOST_ACTIONS } from '../../../../src/areas/code/repository/writing/commits.schema.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { DEVELOPER } from '../../../../src/lib/levels.js'
import { environment } from '../../../git/history.js'
import { testApp } from '../../../helpers/app.js'
import type { TestProject } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const below = ({ id }: TestProject, more = '') => `/projects/${id}/repository/commits${more}`
const git = ({ id }: TestProject, args: string[], input?: string) =>
  execFileSync('git', ['-C', repositoryPath({ id, storage: 'default' }), ...args], {
    env: environment,
    encoding: 'utf8',
    input
  }).trim()
const tree = (project: TestProject, branch = 'master') =>
  git(project, ['ls-tree', '-r', '--format=%(objectmode) %(path)', branch]).split('\n')

const STREAM = `blob
mark :1
data 4
text
commit refs/heads/master
committer Ann <ann@example.org> 1700000000 +0000
data 5
first
M 100644 :1 plain
M 100755 :1 bin/run
M 120000 :1 links/link
M 100644 :1 deep/a/b/c
M 160000 ${'1'.repeat(40)} module
`

/** A project with a file, a script, a link, a deep folder and a submodule. */
async function filled(): Promise<TestProject> {
  const project = await app.make.project()
  await app.make.file(project, 'start', 'start')
  git(project, ['fast-import', '--quiet', '--force'], STREAM)
  return project
}

const commit = (project: TestProject, actions: object[], more: object = {}) =>
  app.as(project.owner).post(below(project), {
    branch_name: 'master',
    commit_message: 'Several things',
    actions,
    ...more
  })

t.test('POST commits does several actions at once', async t => {
  const project = await filled()
  const before = git(project, ['rev-parse', 'master'])
  const res = await commit(
    project,
    [
      { action: 'create', file_path: '/new/é.txt', content: 'bmV3', encoding: 'base64' },
      { action: 'update', file_path: 'bin/run', content: 'other' },
      { action: 'move', file_path: 'bin/moved', previous_path: 'bin/run' },
      { action: 'move', file_path: 'plain/inside', previous_path: 'plain', content: 'changed' },
      { action: 'move', file_path: 'links/other', previous_path: 'links/link' },
      { action: 'delete', file_path: 'deep/a/b/c' }
    ],
    { author_name: 'Bea', author_email: 'bea@example.org' }
  )
  t.equal(res.statusCode, 201)
  t.match(res.json(), {
    id: git(project, ['rev-parse', 'master']),
    title: 'Several things',
    message: 'Several things',
    author_name: 'Bea',
    author_email: 'bea@example.org',
    committer_name: project.owner.name,
    parent_ids: [before],
    stats: { additions: Number, deletions: Number },
    status: null
  })
  t.same(
    tree(project),
    [
      '100755 bin/moved',
      '120000 links/other',
      '160000 module',
      '"100644 new/\\303\\251.txt"',
      '100644 plain/inside'
    ].map(line => line.replace(/^"100644 (.*)"$/, '100644 "$1"'))
  )
  t.equal(git(project, ['show', 'master:new/é.txt']), 'new')
  t.equal(git(project, ['show', 'master:bin/moved']), 'other')
  t.equal(git(project, ['show', 'master:plain/inside']), 'changed')
  t.match(git(project, ['fsck', '--strict', '--no-dangling']), '')
})

t.test('POST commits makes the first branch of an empty project', async t => {
  const project = await app.make.project()
  const create = { action: 'create', file_path: 'a', content: 'a' }
  const early = await commit(project, [create, { action: 'update', file_path: 'a', content: 'b' }])
  t.same([early.statusCode, early.json()], [400, { message: 'No files to update.' }])
  const res = await commit(project, [create], { branch_name: 'trunk' })
  t.match([res.statusCode, res.json()], [201, { parent_ids: [] }])
  t.same(tree(project, 'trunk'), ['100644 a'])
})

t.test('POST commits refuses with the reason, and does nothing then', async t => {
  const project = await filled()
  const before = git(project, ['rev-parse', 'master'])
  const good = { action: 'create', file_path: 'good', content: 'x' }
  const onPath = (path: string) => `Your changes could not be committed, because the file name, \`${path}\` `
  const cases: [object, string][] = [
    [{ action: 'create', content: 'x' }, 'You must specify a file_path.'],
    [{ action: 'create', file_path: 'a' }, 'You must provide content.'],
    [
      { action: 'create', file_path: 'plain', content: '' },
      'Your changes could not be committed because a file with the name `plain` already exists.'
    ],
    [{ action: 'update', file_path: 'no', content: '' }, 'File to be updated `no` does not exist.'],
    [{ action: 'update', file_path: 'module', content: '' }, 'File to be updated `module` does not exist.'],
    [{ action: 'delete', file_path: 'deep' }, 'File to be deleted `deep` does not exist.'],
    [{ action: 'move', file_path: 'x', previous_path: 'no' }, 'File to be moved `no` does not exist.'],
    [{ action: 'move', file_path: 'bin/run', previous_path: 'plain' }, 'Move destination `bin/run` already exists.'],
    [{ action: 'move', file_path: 'x' }, 'You must supply the original file path when moving file `x`.'],
    [{ action: 'rename', file_path: 'x' }, 'Unknown action type `rename`.'],
    [{ action: 'create', file_path: 'a/../b', content: '' }, `${onPath('a/../b')}cannot include directory traversal.`],
    [
      { action: 'create', file_path: 'a b', content: '' },
      `${onPath('a b')}can contain only letters, digits, '_', '-', '@' and '.'. Separate directories with a '/'.`
    ],
    [
      { action: 'create', file_path: 'plain/x', content: '' },
      'Your changes could not be committed: `plain/x` is below a file'
    ],
    [{ action: 'create', file_path: 'a', content: '%', encoding: 'base64' }, 'The content is not valid base64'],
    [{ action: 'create', file_path: '.git/config', content: '' }, 'The file path is invalid'],
    [{ action: 'move', file_path: '.gitmodules', previous_path: 'links/link' }, '.gitmodules cannot be a symbolic link']
  ]
  for (const [action, message] of cases) {
    const res = await commit(project, [good, action])
    t.same([res.statusCode, res.json()], [400, { message }])
  }
  const same = await commit(project, [{ action: 'update', file_path: 'plain', content: 'text' }])
  t.match(same.json(), { message: /they change nothing/ })
  const branch = await commit(project, [good], { branch_name: 'nowhere' })
  t.same(branch.json(), { message: 'You can only create or edit files when you are on a branch' })
  const many = await commit(
    project,
    Array.from({ length: MOST_ACTIONS + 1 }, () => good)
  )
  t.equal(many.statusCode, 400)
  t.match((await commit(project, [])).statusCode, 400)
  t.equal(git(project, ['rev-parse', 'master']), before)
})

t.test('a move cannot create a settings file of git', async t => {
  const project = await filled()
  const content = '[submodule "x"]\n\turl = -uevil\n'
  const res = await commit(project, [
    { action: 'create', file_path: 'harmless', content },
    { action: 'move', file_path: '.gitmodules', previous_path: 'harmless' }
  ])
  t.match([res.statusCode, res.json()], [400, { message: /settings that are not accepted/ }])
  t.equal((await commit(project, [{ action: 'create', file_path: 'harmless', content }])).statusCode, 201)
  const later = await commit(project, [{ action: 'move', file_path: '.gitmodules', previous_path: 'harmless' }])
  t.match([later.statusCode, later.json()], [400, { message: /settings that are not accepted/ }])
})

t.test('POST cherry_pick', async t => {
  const project = await filled()
  const pick = (sha: string, branch: string, who = project.owner) =>
    app.as(who).post(below(project, `/${encodeURIComponent(sha)}/cherry_pick`), { branch })
  await app.make.branch(project, 'side')
  git(
    project,
    ['fast-import', '--quiet', '--force'],
    `commit refs/heads/side
author Zoë <zoe@example.org> 1600000000 +0200
committer Ann <ann@example.org> 1700000100 +0000
data 22
Change plain

é body
from refs/heads/side^0
M 100644 inline plain
data 9
text
more
M 100755 inline tool
data 1
x
`
  )

  t.test('applies the change with its author and message', async t => {
    await commit(project, [{ action: 'create', file_path: 'between', content: 'x' }])
    const parent = git(project, ['rev-parse', 'master'])
    const res = await pick('side', 'master')
    t.equal(res.statusCode, 201)
    t.match(res.json(), {
      id: git(project, ['rev-parse', 'master']),
      title: 'Change plain',
      author_name: 'Zoë',
      author_email: 'zoe@example.org',
      committer_name: project.owner.name
    })
    t.equal(git(project, ['log', '-1', '--format=%P %ai', 'master']), `${parent} 2020-09-13 14:26:40 +0200`)
    t.equal(git(project, ['log', '-1', '--format=%B', 'master']), git(project, ['log', '-1', '--format=%B', 'side']))
    t.ok(tree(project).includes('100755 tool'))
    t.equal(git(project, ['show', 'master:plain']), 'text\nmore')
    t.equal(git(project, ['diff', 'side', 'master', '--name-only']), 'between')
  })

  t.test('refuses what was picked already, and what conflicts', async t => {
    const again = await pick('side', 'master')
    t.match([again.statusCode, again.json()], [400, { message: /^Sorry, we cannot cherry-pick this commit/ }])
    await app.make.branch(project, 'other', git(project, ['rev-parse', 'master~1']))
    await commit(project, [{ action: 'update', file_path: 'plain', content: 'quite different' }], {
      branch_name: 'other'
    })
    const before = git(project, ['rev-parse', 'other'])
    const conflict = await pick('side', 'other')
    t.match([conflict.statusCode, conflict.json()], [400, { message: /^Sorry, we cannot cherry-pick this commit/ }])
    t.equal(git(project, ['rev-parse', 'other']), before)
  })

  t.test('takes the first commit of a history, and a merge by its first parent', async t => {
    git(
      project,
      ['fast-import', '--quiet', '--force'],
      `commit refs/heads/orphan
committer Ann <ann@example.org> 1700000200 +0000
data 4
rootM 100644 inline single
data 1
x
`
    )
    t.equal((await pick('orphan', 'master')).statusCode, 201)
    t.ok(tree(project).includes('100644 single'))
    await app.make.branch(project, 'target', 'side')
    const merge = git(project, ['commit-tree', '-m', 'merge', '-p', 'side', '-p', 'orphan', 'master^{tree}'])
    t.equal((await pick(merge, 'target')).statusCode, 201)
    t.equal(git(project, ['rev-parse', 'target^{tree}']), git(project, ['rev-parse', 'master^{tree}']))
  })

  t.test('names what is missing, and asks the one rule', async t => {
    t.same((await pick('nowhere', 'master')).json(), { message: '404 Commit Not Found' })
    t.same((await pick('side', 'nowhere')).json(), { message: '404 Branch Not Found' })
    const developer = await app.make.member(project, DEVELOPER)
    await app.make.branch(project, 'free', 'orphan')
    await app.make.file(project, 'fresh', 'x', 'free')
    await app.as(project.owner).put(`/projects/${project.id}/repository/branches/master/protect`)
    const refused = await pick('free', 'master', developer)
    t.same([refused.statusCode, refused.json()], [400, { message: 'You are not allowed to push into this branch' }])
    t.match(git(project, ['fsck', '--strict', '--no-dangling']), '')
  })
})

t.test('GET a commit has the status of the newest pipelines of all its branches together', async t => {
  const project = await filled()
  const owner = app.as(project.owner)
  const id = git(project, ['rev-parse', 'master'])
  const post = (ref: string, state: string) => owner.post(`/projects/${project.id}/statuses/${id}`, { ref, state })
  const status = async () => (await owner.get(below(project, `/${id}`))).json().status
  t.equal(await status(), null)
  await post('one', 'failed')
  await post('two', 'success')
  t.equal(await status(), 'failed', 'the older pipeline of another branch counts, too')
  await post('one', 'running')
  t.equal(await status(), 'running')
  await post('one', 'success')
  t.equal(await status(), 'success')
})

t.test('the status of a commit counts the newest pipeline of each branch and tag, however many there are', async t => {
  const project = await filled()
  const id = git(project, ['rev-parse', 'master'])
  const status = async () => (await app.as(project.owner).get(below(project, `/${id}`))).json().status
  const add = async (ref: string, state: string, { tag = false, times = 1 } = {}) => {
    for (let time = 0; time < times; time++)
      await execute(
        `insert into pipelines (project_id, ref, tag, sha, before_sha, status, source, created_at, updated_at)
         values (?, ?, ?, ?, ?, ?, 'push', utc_timestamp(3), utc_timestamp(3))`,
        [project.id, ref, tag, id, id, state]
      )
  }
  await add('v1', 'failed')
  await add('v1', 'success', { tag: true })
  t.equal(await status(), 'failed', 'a branch and a tag with the same name differ')
  await add('v1', 'success')
  t.equal(await status(), 'success', 'a newer pipeline of the branch replaces the older one')
  await add('V1', 'failed')
  await add('master', 'success', { times: 19 })
  t.equal(await status(), 'failed', 'the pipeline before 19 newer ones counts')
  await add('master', 'success', { times: 20 })
  t.equal(await status(), 'failed', 'the pipeline before 39 newer ones counts, too')
  await add('V1', 'success')
  t.equal(await status(), 'success')
})

t.test('POST commits takes its actions as a form, too', async t => {
  const project = await filled()
  const send = (actions: [string, string][]) => {
    const pairs: [string, string][] = [['branch_name', 'master'], ['commit_message', 'By a form'], ...actions]
    return app
      .as(project.owner, { 'content-type': 'application/x-www-form-urlencoded' })
      .post(below(project), new URLSearchParams(pairs).toString())
  }
  const create = (name: string): [string, string][] => [
    ['actions[][action]', 'create'],
    ['actions[][file_path]', name],
    ['actions[][content]', `content of ${name}`]
  ]
  const res = await send([...create('one'), ...create('two')])
  t.equal(res.statusCode, 201)
  t.equal(git(project, ['show', 'master:one']), 'content of one')
  t.equal(git(project, ['show', 'master:two']), 'content of two')
  const many = Array.from({ length: 400 }, (_, at) => create(`many-${at}`)).flat()
  t.equal((await send(many)).statusCode, 413, 'no commit of a part of the actions')
})

t.test('the title of a commit counts characters, and cuts none in half', async t => {
  const project = await filled()
  const cases: [string, string][] = [
    ['t'.repeat(100), 't'.repeat(100)],
    ['t'.repeat(101), `${'t'.repeat(80)}…`],
    ['😀'.repeat(100), '😀'.repeat(100)],
    [`t${'😀'.repeat(100)}`, `t${'😀'.repeat(79)}…`]
  ]
  for (const [at, [message, title]] of cases.entries()) {
    const res = await commit(project, [{ action: 'create', file_path: `title-${at}`, content: 'x' }], {
      commit_message: `${message}\n\nbody`
    })
    t.equal(res.json().title, title)
  }
})
