import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { moveRefs } from '../../../../src/areas/code/refs/move-refs.js'
import { findProtections, MOST_RULES } from '../../../../src/areas/code/refs/protected-branches.queries.js'
import { protectionBy } from '../../../../src/areas/code/refs/protection.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { refValue, ZERO } from '../../../../src/git/refs/refs.js'
import { DEVELOPER, MASTER, REPORTER } from '../../../../src/lib/levels.js'
import { environment } from '../../../git/history.js'
import { testApp } from '../../../helpers/app.js'
import { originBy, projectRow, type TestProject } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const below = ({ id }: TestProject, name = '', more = '') =>
  `/projects/${id}/repository/branches${name && `/${encodeURIComponent(name)}`}${more}`
const repositoryOf = ({ id }: TestProject) => repositoryPath({ id, storage: 'default' })
const tipOf = async (project: TestProject, branch = 'master') =>
  (await refValue(repositoryOf(project), `refs/heads/${branch}`)) ?? ''
const git = (project: TestProject, ...args: string[]) =>
  execFileSync('git', ['-C', repositoryOf(project), ...args], { env: environment, encoding: 'utf8' }).trim()

async function filled(): Promise<TestProject> {
  const project = await app.make.project({ visibility_level: 20 })
  await app.make.file(project, 'README', 'one\n')
  return project
}

t.test('a commit shows a part of its parents, if it has very many', async t => {
  const project = await filled()
  const parent = `parent ${await tipOf(project)}\n`
  const person = 'A <a@example.com> 1 +0000'
  const input = `tree ${git(project, 'rev-parse', 'master^{tree}')}\n${parent.repeat(5000)}author ${person}\ncommitter ${person}\n\nx\n`
  const args = ['-C', repositoryOf(project), 'hash-object', '-t', 'commit', '-w', '--stdin']
  const id = execFileSync('git', args, { env: environment, input, encoding: 'utf8' }).trim()
  git(project, 'update-ref', 'refs/heads/octopus', id)
  const branch = await app.as(project.owner).get(below(project, 'octopus'))
  t.match(branch.json().commit, { id, message: 'x\n' })
  t.equal(branch.json().commit.parent_ids.length, 500)
  const commit = await app.as(project.owner).get(`/projects/${project.id}/repository/commits/${id}`)
  t.equal(commit.json().parent_ids.length, 500)
})

t.test('GET branches', async t => {
  const project = await filled()
  await app.make.branch(project, 'feature/one.two')
  await app.make.file(project, 'more', 'more', 'feature/one.two')
  await app.make.branch(project, 'a-merged')
  const res = await app.as(project.owner).get(below(project))
  t.equal(res.statusCode, 200)
  t.notOk(res.headers['x-total'], 'no pages')

  t.test('gives the records by name', async t => {
    const brief = res.json().map((branch: Record<string, unknown>) => ({ ...branch, commit: undefined }))
    const flags = { commit: undefined, developers_can_push: false, developers_can_merge: false }
    t.same(brief, [
      { ...flags, name: 'a-merged', merged: true, protected: false },
      { ...flags, name: 'feature/one.two', merged: false, protected: false },
      { ...flags, name: 'master', merged: true, protected: true }
    ])
    t.match(res.json()[2].commit, {
      id: await tipOf(project),
      message: 'Add README',
      parent_ids: [],
      author_name: project.owner.name,
      author_email: project.owner.email,
      committer_name: project.owner.name,
      committer_email: project.owner.email,
      authored_date: /T/,
      committed_date: /T/
    })
  })

  t.test('answers 304 until a branch or a rule changes', async t => {
    const asker = app.as(project.owner, { 'if-none-match': String(res.headers.etag) })
    t.equal((await asker.get(below(project))).statusCode, 304)
    await app.as(project.owner).put(below(project, 'a-merged', '/protect'))
    t.equal((await asker.get(below(project))).statusCode, 200)
  })

  t.test('gives one branch, also with raw slashes', async t => {
    t.match((await app.as(project.owner).get(below(project, 'feature/one.two'))).json(), { merged: false })
    const raw = await app.as(project.owner).get(`${below(project)}/feature/one.two`)
    t.match(raw.json(), { name: 'feature/one.two' })
    for (const name of ['nothing', '-x', 'refs/heads/master', await tipOf(project), 'HEAD', 'master^', 'a\nb']) {
      const missing = await app.as(project.owner).get(below(project, name))
      t.equal(missing.statusCode, 404, name)
      t.same(missing.json(), { message: '404 Branch Not Found' })
    }
  })

  t.test('is empty for an empty project', async t => {
    const empty = await app.make.project()
    t.same((await app.as(empty.owner).get(below(empty))).json(), [])
  })
})

t.test('a long list of branches is sent whole, in the order of git', async t => {
  const project = await filled()
  const tip = await tipOf(project)
  const lines = Array.from({ length: 450 }, (_, at) => `create refs/heads/b${at}é ${tip}\n`)
  execFileSync('git', ['-C', repositoryOf(project), 'update-ref', '--stdin'], {
    env: environment,
    input: lines.join('')
  })
  const res = await app.as(project.owner).get(below(project))
  const names = git(project, 'for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads').split('\n')
  t.same(
    res.json().map(({ name }: { name: string }) => name),
    names
  )
  t.ok(res.json().every(({ merged }: { merged: boolean }) => merged))
})

t.test('POST branches', async t => {
  const project = await filled()
  const create = (branch_name: string, ref: string) => app.as(project.owner).post(below(project), { branch_name, ref })
  const tip = await tipOf(project)

  t.test('creates a branch at a branch, a tag, an id or the beginning of an id', async t => {
    git(project, 'tag', '-a', '-m', 'one', 'v1')
    for (const [at, ref] of ['master', 'v1', tip, tip.slice(0, 10)].entries()) {
      const res = await create(`made/${at}`, ref)
      t.equal(res.statusCode, 201)
      t.match(res.json(), { name: `made/${at}`, commit: { id: tip }, merged: true, protected: false })
    }
  })

  t.test('refuses names that git or people would take for something else', async t => {
    const names = [
      '-x',
      '--help',
      'HEAD',
      'a..b',
      'a b',
      'a/',
      '/a',
      'a.lock',
      'a~1',
      '@{1}',
      'a\\b',
      tip,
      'refs/heads/x',
      ''
    ]
    for (const name of [...names, '.a', 'a//b', 'x'.repeat(300), 'a\0b', '\u007f']) {
      const res = await create(name, 'master')
      t.equal(res.statusCode, 400, name)
      t.same(res.json(), { message: 'Branch name is invalid' }, name)
    }
  })

  t.test('names the other reasons', async t => {
    t.same((await create('master', 'master')).json(), { message: 'Branch already exists' })
    t.same((await create('other', 'nowhere')).json(), { message: 'Invalid reference name' })
    t.same((await create('other', '--all')).json(), { message: 'Invalid reference name' })
    t.match((await create('master/x', 'master')).json(), { message: /^Branch name is invalid/ })
    t.match((await app.as(project.owner).post(below(project))).json(), {
      error: 'branch_name is missing, ref is missing'
    })
    const empty = await app.make.project()
    const res = await app.as(empty.owner).post(below(empty), { branch_name: 'a', ref: 'master' })
    t.same([res.statusCode, res.json()], [400, { message: 'Invalid reference name' }])
  })
})

t.test('DELETE branches', async t => {
  const project = await filled()
  const remove = (name: string) => app.as(project.owner).delete(below(project, name))

  t.test('deletes a branch', async t => {
    await app.make.branch(project, 'a/b')
    const res = await remove('a/b')
    t.same([res.statusCode, res.json()], [200, { branch_name: 'a/b' }])
    t.equal(await tipOf(project, 'a/b'), '')
  })

  t.test('refuses with the words of the requirement', async t => {
    await app.make.branch(project, 'kept')
    await app.as(project.owner).put(below(project, 'kept', '/protect'))
    for (const [name, status, message] of [
      ['nothing', 404, 'No such branch'],
      ['master', 405, 'Cannot remove HEAD branch'],
      ['kept', 405, 'Protected branch cant be removed']
    ] as const) {
      const res = await remove(name)
      t.same([res.statusCode, res.json()], [status, { message }])
    }
  })
})

t.test('DELETE merged_branches deletes what the default branch contains, but the protected ones', async t => {
  const project = await filled()
  for (const name of ['merged', 'open', 'kept', 'release/1']) await app.make.branch(project, name)
  await app.make.file(project, 'more', 'more', 'open')
  await app.as(project.owner).put(below(project, 'kept', '/protect'))
  await execute(
    "insert into protected_branches (project_id, name, created_at, updated_at) values (?, 'release/*', now(), now())",
    [project.id]
  )
  const res = await app.as(project.owner).delete(`/projects/${project.id}/repository/merged_branches`)
  t.equal(res.statusCode, 200)
  await app.runJobs()
  const left = (await app.as(project.owner).get(below(project))).json()
  t.same(
    left.map(({ name }: { name: string }) => name),
    ['kept', 'master', 'open', 'release/1']
  )
})

t.test('PUT protect and unprotect', async t => {
  const project = await filled()
  await app.make.branch(project, 'a/b')
  const put = async (verb: string, body = {}, name = 'a/b') => {
    const res = await app.as(project.owner).put(below(project, name, `/${verb}`), body)
    t.equal(res.statusCode, 200)
    const { protected: on, developers_can_push: push, developers_can_merge: merge } = res.json()
    return [on, push, merge]
  }

  t.test('the flags are kept where they are not given', async t => {
    t.same(await put('protect'), [true, false, false])
    t.same(await put('protect', { developers_can_push: true }), [true, true, false])
    t.same(await put('protect', { developers_can_merge: true }), [true, true, true])
    t.same(await put('protect', { developers_can_push: false }), [true, false, true])
    t.same(await put('unprotect'), [false, false, false])
    t.same(await put('unprotect'), [false, false, false])
  })

  t.test('raw slashes reach the branch', async t => {
    const res = await app.as(project.owner).put(`${below(project)}/a/b/protect`)
    t.match(res.json(), { name: 'a/b', protected: true })
  })

  t.test('a pattern keeps a branch protected', async t => {
    await execute(
      "insert into protected_branches (project_id, name, developers_can_push, created_at, updated_at) values (?, 'a*', 1, now(), now())",
      [project.id]
    )
    t.same(await put('unprotect'), [true, true, false])
  })

  t.test('each change is in the audit, with what it changed', async t => {
    const found = await rows<{ action: string; target_name: string }>(
      "select action, target_name from audit_events where target_type = 'branch' and target_id = ? order by id",
      [String(project.id)]
    )
    t.same(
      found.map(({ action }) => action.replace('branch.', '')),
      ['protect', 'protect', 'protect', 'protect', 'unprotect', 'protect', 'unprotect']
    )
    t.equal(found[0]?.target_name, `${project.path}:a/b`)
  })

  t.test('a branch that does not exist is not found', async t => {
    const res = await app.as(project.owner).put(below(project, 'nothing', '/protect'))
    t.same([res.statusCode, res.json()], [404, { message: '404 Branch Not Found' }])
  })

  t.test('a project has a limit of rules', async t => {
    const values = Array.from({ length: MOST_RULES }, (_, at) => `(${project.id}, 'rule-${at}', now(), now())`)
    await execute(
      `insert into protected_branches (project_id, name, created_at, updated_at) values ${values.join(', ')}`
    )
    const res = await app.as(project.owner).put(below(project, 'a/b', '/protect'))
    t.match(res.json().message, /at most 1000 protected branches: unprotect one first/)
    t.equal(res.statusCode, 400)
  })
})

t.test('patterns', async t => {
  const of = (name: string) => protectionBy([{ name, developers_can_push: 1, developers_can_merge: 0 }])
  for (const [pattern, yes, no] of [
    ['release/*', ['release/', 'release/1', 'release/1/2'], ['release', 'a-release/1']],
    ['*-stable', ['1-stable', '-stable', 'a/b-stable'], ['stable', '1-stable-2']],
    ['a*b*c', ['abc', 'axbxc', 'abbcc'], ['acb', 'ab', 'ac']],
    ['*', ['anything', 'a/b'], []],
    ['a.c', ['a.c'], ['abc']]
  ] as [string, string[], string[]][]) {
    for (const name of yes) t.same(of(pattern).of(name), { developersCanPush: true, developersCanMerge: false }, name)
    for (const name of no) t.equal(of(pattern).of(name), null, `${pattern} ${name}`)
  }
  const started = of(`${'a*'.repeat(100)}b`).of('a'.repeat(250))
  t.equal(started, null)
})

t.test('default_branch_protection', async t => {
  const admin = app.as(await app.make.admin())
  for (const [setting, expected] of [
    [0, null],
    [1, { developersCanPush: true, developersCanMerge: false }],
    [2, { developersCanPush: false, developersCanMerge: false }],
    [3, { developersCanPush: false, developersCanMerge: true }]
  ] as const) {
    t.equal((await admin.put('/application/settings', { default_branch_protection: setting })).statusCode, 200)
    const project = await filled()
    t.same((await findProtections(project.id)).of('master'), expected, String(setting))
  }
})

t.test('the one rule holds for all writes of the API', async t => {
  const project = await filled()
  const developer = await app.make.member(project, DEVELOPER)
  const reporter = await app.make.member(project, REPORTER)
  const master = await app.make.member(project, MASTER)
  const write = (who: typeof developer, path: string) =>
    app.as(who).post(`/projects/${project.id}/repository/files`, {
      file_path: path,
      branch_name: 'master',
      content: 'x',
      commit_message: 'Add'
    })
  const refused = await write(developer, 'a')
  t.same([refused.statusCode, refused.json()], [400, { message: 'You are not allowed to push into this branch' }])
  t.equal((await write(reporter, 'a')).statusCode, 403)
  t.equal((await write(master, 'a')).statusCode, 201)
  await app.as(master).put(below(project, 'master', '/protect'), { developers_can_push: true })
  t.equal((await write(developer, 'b')).statusCode, 201)
  await execute(
    "insert into protected_branches (project_id, name, created_at, updated_at) values (?, 'stable/*', now(), now())",
    [project.id]
  )
  const made = await app.as(developer).post(below(project), { branch_name: 'stable/1', ref: 'master' })
  t.same(made.json(), { message: 'You are not allowed to push into this branch' })
  t.equal((await app.as(master).post(below(project), { branch_name: 'stable/1', ref: 'master' })).statusCode, 201)
})

t.test('nobody deletes a protected branch, and nobody without a user moves one', async t => {
  const project = await filled()
  await app.make.branch(project, 'kept')
  await app.as(project.owner).put(below(project, 'kept', '/protect'))
  const row = await projectRow(project)
  const tip = await tipOf(project)
  const deletion = moveRefs(row, [{ ref: 'refs/heads/kept', old: tip, new: ZERO }], originBy(project.owner))
  await t.rejects(deletion, { name: 'BadRequest', message: /not allowed to delete protected branches/ })
  const origin = { ...originBy(project.owner), asker: null }
  await app.make.file(project, 'more', 'more')
  const forward = moveRefs(row, [{ ref: 'refs/heads/kept', old: tip, new: await tipOf(project) }], origin)
  await t.rejects(forward, { name: 'BadRequest', message: 'You are not allowed to push into this branch' })
})

t.test('a commit that was pruned is no value of a branch or tag, although a cache still has it', async t => {
  const project = await filled()
  const master = await tipOf(project)
  const id = git(project, 'commit-tree', '-m', 'lost', '-p', master, 'master^{tree}')
  const owner = app.as(project.owner)
  t.equal((await owner.get(`/projects/${project.id}/repository/commits/${id}`)).statusCode, 200)
  git(project, 'prune', '--expire=now')
  const branch = await owner.post(below(project), { branch_name: 'found', ref: id })
  t.equal(branch.statusCode, 400)
  t.equal(branch.json().message, 'Invalid reference name')
  for (const message of ['', 'annotated']) {
    const tag = await owner.post(`/projects/${project.id}/repository/tags`, { tag_name: 'found', ref: id, message })
    t.equal(tag.statusCode, 405)
    t.equal(tag.json().message, `Target ${id} is invalid`)
  }
  const open = await rows("select ref from ref_changes where project_id = ? and state = 'open'", [project.id])
  t.same(open, [], 'the changes are settled')
})

t.test('a branch or tag whose object is missing does not hide the others', async t => {
  const project = await filled()
  await app.make.branch(project, 'other')
  const tip = await tipOf(project)
  for (const name of ['annotated', 'lost-target']) git(project, 'tag', '-a', '-m', name, name, 'master')
  git(project, 'tag', 'lost', 'lost-target')
  const lost = git(project, 'rev-parse', 'lost')
  git(project, 'update-ref', '-d', 'refs/tags/lost-target')
  rmSync(join(repositoryOf(project), 'objects', lost.slice(0, 2), lost.slice(2)))
  writeFileSync(join(repositoryOf(project), 'refs/heads/lost'), `${'b'.repeat(40)}\n`)
  const owner = app.as(project.owner)
  const branches = (await owner.get(below(project))).json()
  t.same(
    branches.map(({ name, merged }: { name: string; merged: boolean }) => ({ name, merged })),
    [
      { name: 'master', merged: true },
      { name: 'other', merged: true }
    ]
  )
  const tags = (await owner.get(`/projects/${project.id}/repository/tags`)).json()
  t.match(tags, [{ name: 'annotated', message: 'annotated', commit: { id: tip } }])
  t.equal(tags.length, 1)
})
