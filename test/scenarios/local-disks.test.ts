// Two machines, each with one storage on a disk that only it reaches. Projects move between the disks while people use them.
import { type ChildProcess, spawn } from 'node:child_process'
import { hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import t, { type Test } from 'tap'
import { Browser } from '../helpers/browser.js'
import { clean, gitstead, program } from './appliance.js'
import { eventually, git } from './client.js'
import {
  commandOn,
  killMachine,
  type Machine,
  type Project,
  startMachine,
  twoMachines,
  useWhileMoving
} from './two-machines.js'

t.setTimeout(1_200_000)

const {
  folder,
  database,
  first,
  second,
  ann,
  source,
  ask,
  remote,
  projectOn: makeProject
} = await twoMachines(t, {
  name: 'disks',
  shared: false
})
let alpha = await startMachine(first)
let beta = await startMachine(second)
t.teardown(() => Promise.all([alpha.stop(), beta.stop()]))
const { username, searchParams, pathname } = database
const rows = await mysql.createConnection({
  ...{ user: username, password: database.password, database: pathname.slice(1) },
  ...(searchParams.has('socket') ? { socketPath: searchParams.get('socket') ?? '' } : { host: database.hostname })
})
t.teardown(() => rows.end())

/** Bytes of a file in a repository that has moved to the second machine. */
const LARGE = 64 * 1024 * 1024
/** The exit code of a command whose lock somebody holds. */
const RUNNING = 6

let count = 0

async function projectOn(storage: string): Promise<Project> {
  const project = await makeProject([alpha, beta], storage, `on-${storage}-${++count}`)
  await git(source, ['push', '--quiet', remote(alpha, project.path), 'master'])
  return project
}

const storageOf = async ({ id }: Project): Promise<string> => {
  const [found] = await rows.query('select storage from projects where id = ?', [id])
  return (found as { storage: string }[])[0]?.storage ?? ''
}

/** Waits until the machine of a project serves its storage again. */
const isBack = ({ id }: Project) =>
  eventually(
    async () => (await ask(alpha, 'GET', `/projects/${id}/repository/tree`)).status === 200,
    () => 'the storage never came back'
  )

const move = (on: Machine, { path }: Project, storage: string) =>
  commandOn(on, ['projects', 'move', path, '--storage', storage, '--json'])

/** The path of a repository in its storage. */
function pathOf({ id }: Project): string {
  const name = hash('sha256', String(id))
  return join(name.slice(0, 2), name.slice(2, 4), `${name}.git`)
}

/** The folders of a machine in which a repository of the project is. */
const copies = (project: Project): string[] => {
  return [first, second].flatMap(({ home, environment }) => {
    const path = join(home, 'repositories', environment.GITSTEAD_REPOSITORIES_STORAGES ?? '', pathOf(project))
    return existsSync(path) ? [path] : []
  })
}

/** As if an hour had passed. Checks that one copy is left, without a fault. */
async function checkOnly(t: Test, project: Project): Promise<void> {
  await rows.query('update old_repositories set removable_at = now(3) - interval 1 second')
  for (const machine of [first, second]) {
    let ended = await commandOn(machine, ['maintenance', 'run', 'old_repositories'])
    // A worker runs the task, or the lock of a killed move has not ended.
    const isFree = async () => {
      if (ended.code === RUNNING) ended = await commandOn(machine, ['maintenance', 'run', 'old_repositories'])
      return ended.code !== RUNNING
    }
    await eventually(isFree, () => 'the lock of the task never ended')
    t.equal(ended.code, 0, ended.stdout + ended.stderr)
  }
  const [only, ...more] = copies(project)
  t.same(more, [], 'one copy')
  t.ok(only?.includes(`/repositories/${await storageOf(project)}/`))
  await git(only ?? '', ['fsck', '--full', '--strict'])
  const [left] = await rows.query('select * from old_repositories')
  t.same(left, [])
}

t.test('a project moves to the disk of another machine while people use it', async t => {
  const project = await projectOn('alpha')
  const { id, path } = project
  t.match(await move(first, project, 'beta'), {
    code: 4,
    stdout: /machine \S+ owns the storage beta: run this command on its machine/
  })
  const commits = await useWhileMoving(t, move(second, project, 'beta'), id, { ask, write: alpha, read: beta })
  t.equal(await storageOf(project), 'beta')
  await git(source, ['push', '--quiet', remote(alpha, path), 'master:late'])
  const { json } = await ask<unknown[]>(alpha, 'GET', `/projects/${id}/repository/commits?per_page=100`)
  t.equal(json.length, Math.min(commits + 1, 100), 'no commit is lost or doubled')
  await checkOnly(t, project)
})

t.test('no push through the former machine fails while a project moves, and after that', async t => {
  const project = await projectOn('alpha')
  const moving = move(second, project, 'beta')
  for (let pushes = 0, late = 0; late < 6; pushes++) {
    if ((await storageOf(project)) === 'beta') late++
    await git(source, ['push', '--quiet', remote(alpha, project.path), `master:refs/heads/push-${pushes}`])
  }
  const { code, stdout, stderr } = await moving
  t.equal(code, 0, stdout + stderr)
})

t.test('a project that was created on another machine is no damage', async t => {
  await makeProject([alpha, beta], 'beta', 'never-used')
  const { stdout } = await commandOn(second, ['doctor', '--json'])
  const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean }[] }
  t.match(
    checks.find(({ name }) => name === 'repositories'),
    { ok: true }
  )
})

t.test('a move between machines may be killed at any time: one copy counts, and the next try moves it', async t => {
  const project = await projectOn('alpha')
  const work = t.testdir({})
  await git(work, ['clone', '--quiet', remote(alpha, project.path), 'clone'])
  const clone = join(work, 'clone')
  writeFileSync(join(clone, 'large'), randomBytes(LARGE))
  await git(clone, ['add', '.'])
  await git(clone, ['commit', '--quiet', '-m', 'Large'])
  await git(clone, ['push', '--quiet', 'origin', 'master'])
  const begin = (): ChildProcess => {
    const { home, environment } = second
    const args = [program, 'projects', 'move', project.path, '--storage', 'beta', '--home', home]
    return spawn(process.execPath, args, { env: clean(environment), stdio: 'ignore' })
  }
  const seen = async (sql: string) => ((await rows.query(sql, [project.id]))[0] as unknown[]).length > 0
  const moments: [string, string, () => Promise<boolean>][] = [
    ['while it copies', 'alpha', () => seen('select 1 from old_repositories where project_id = ?')],
    ['while changes wait', 'alpha', () => seen('select 1 from projects where id = ? and held_until > now(3)')],
    ['when the copy has its place', 'alpha', async () => copies(project).length === 2],
    ['when the project has moved', 'beta', async () => (await storageOf(project)) === 'beta']
  ]
  for (const [name, expected, isReached] of moments) {
    const child = begin()
    const ended = once(child, 'exit')
    while (child.exitCode === null && !(await isReached())) await new Promise(resolve => setTimeout(resolve, 2))
    child.kill('SIGKILL')
    await ended
    const found = await storageOf(project)
    // The process may get further between the look and the kill.
    t.ok([expected, 'beta'].includes(found), `${name}: it is in ${found}`)
    await git(clone, ['commit', '--quiet', '--allow-empty', '-m', name])
    await git(clone, ['push', '--quiet', 'origin', 'master'])
    if (found === 'beta') {
      await checkOnly(t, project)
      const back = await move(first, project, 'alpha')
      t.equal(back.code, 0, back.stdout + back.stderr)
    }
    await checkOnly(t, project)
  }
  const last = await move(second, project, 'beta')
  t.equal(last.code, 0, last.stdout + last.stderr)
  await checkOnly(t, project)
  const head = (await git(clone, ['rev-parse', 'HEAD'])).trim()
  await eventually(
    async () => (await git(clone, ['ls-remote', remote(beta, project.path), 'master'])).startsWith(head),
    () => 'the last push is there'
  )
})

t.test('a move and a backup continue when the machine that reads the files out has died and is back', async t => {
  const project = await projectOn('alpha')
  const clone = join(t.testdir({}), 'clone')
  await git(folder, ['clone', '--quiet', remote(alpha, project.path), clone])
  writeFileSync(join(clone, 'large'), randomBytes(LARGE))
  await git(clone, ['add', '.'])
  await git(clone, ['commit', '--quiet', '-m', 'Large'])
  await git(clone, ['push', '--quiet', 'origin', 'master'])
  const head = (await git(clone, ['rev-parse', 'HEAD'])).trim()

  const moving = move(second, project, 'beta')
  await eventually(
    async () => ((await rows.query('select 1 from old_repositories'))[0] as unknown[]).length > 0,
    () => 'the move never began'
  )
  await killMachine(alpha)
  alpha = await startMachine(first)
  const moved = await moving
  t.equal(moved.code, 0, moved.stdout + moved.stderr)
  t.equal(await storageOf(project), 'beta')
  await checkOnly(t, project)
  await git(clone, ['commit', '--quiet', '--allow-empty', '-m', 'After the move'])
  await git(clone, ['push', '--quiet', 'origin', 'master'])

  const backups = join(folder, 'interrupted')
  const copying = commandOn(first, ['backup', 'create', '--to', backups, '--json'])
  await eventually(
    async () =>
      existsSync(backups) && readdirSync(backups, { recursive: true }).some(name => /packed-refs$/.test(String(name))),
    () => 'the backup never began to copy'
  )
  await killMachine(beta)
  beta = await startMachine(second)
  const { code, stdout, stderr } = await copying
  t.equal(code, 0, stdout + stderr)
  const made = join(backups, (JSON.parse(stdout) as { id: string }).id)
  const verified = await commandOn(first, ['backup', 'verify', made])
  t.equal(verified.code, 0, verified.stdout + verified.stderr)
  t.equal((await git(join(made, 'repositories', 'beta', pathOf(project)), ['rev-parse', 'master~1'])).trim(), head)
})

t.test('merge requests between a fork and its source work when they are on two machines', async t => {
  const target = await projectOn('alpha')
  t.equal((await ask(alpha, 'POST', '/groups', { name: 'forks', path: 'forks' })).status, 201)
  const forked = await ask<{ id: number; path_with_namespace: string }>(alpha, 'POST', `/projects/fork/${target.id}`, {
    namespace: 'forks'
  })
  t.equal(forked.status, 201)
  const fork = { id: forked.json.id, path: forked.json.path_with_namespace }
  const hasMaster = async () =>
    (await ask(alpha, 'GET', `/projects/${fork.id}/repository/commits/master`)).status === 200
  await eventually(hasMaster, () => 'the fork is filled')
  const moved = await move(second, fork, 'beta')
  t.equal(moved.code, 0, moved.stdout + moved.stderr)
  // Each machine creates one: the first has the target, the second has the fork.
  for (const [at, branch] of [
    [alpha, 'from-alpha'],
    [beta, 'from-beta']
  ] as const) {
    const commit = (title: string) =>
      git(source, ['commit', '--quiet', '--allow-empty', '-m', title]).then(() =>
        git(source, ['push', '--quiet', remote(at, fork.path), `HEAD:${branch}`])
      )
    await commit(`First ${branch}`)
    const asked = { source_branch: branch, target_branch: 'master', target_project_id: target.id, title: branch }
    const made = await ask<{ id: number }>(at, 'POST', `/projects/${fork.id}/merge_requests`, asked)
    t.equal(made.status, 201, JSON.stringify(made.json))
    const path = `/projects/${target.id}/merge_requests/${made.json.id}`
    await commit(`Second ${branch}`)
    const head = (await git(source, ['rev-parse', 'HEAD'])).trim()
    const follows = async () => {
      const { json } = await ask<{ sha: string; merge_status: string }>(at, 'GET', path)
      return json.sha === head && json.merge_status === 'can_be_merged'
    }
    await eventually(follows, () => `${branch} never got the second commit`)
    const merged = await ask(at, 'PUT', `${path}/merge`, { should_remove_source_branch: true })
    t.equal(merged.status, 200, JSON.stringify(merged.json))
    t.match(await git(source, ['ls-remote', remote(beta, target.path), 'master']), /^[0-9a-f]{40}/)
    const isRemoved = async () =>
      (await ask(at, 'GET', `/projects/${fork.id}/repository/branches/${branch}`)).status === 404
    await eventually(isRemoved, () => `${branch} is still in the fork`)
    await git(source, ['fetch', '--quiet', remote(at, target.path), 'master'])
    await git(source, ['merge-base', '--is-ancestor', head, 'FETCH_HEAD'])
  }
})

t.test('to-dos and texts show commits of both machines, on each of them', async t => {
  const there = await projectOn('beta')
  const projects = [await projectOn('alpha'), there]
  const sha = (await git(source, ['rev-parse', 'master'])).trim()
  for (const { id } of projects) {
    const note = { note: 'Look at this, @ann' }
    t.equal((await ask(beta, 'POST', `/projects/${id}/repository/commits/${sha}/comments`, note)).status, 201)
    const description = projects.map(({ path }) => `See ${path}@${sha.slice(0, 10)}.`).join(' ')
    t.equal((await ask(alpha, 'POST', `/projects/${id}/issues`, { title: 'Commits', description })).status, 201)
  }
  let todos: readonly { readonly id: number }[] = []
  for (const at of [alpha, beta]) {
    const { status, json } = await ask<{ id: number; project: { id: number }; target: { id: string } }[]>(
      at,
      'GET',
      '/todos'
    )
    t.equal(status, 200)
    const shown = json.filter(({ project }) => projects.some(({ id }) => id === project.id))
    t.same(
      shown.map(({ target }) => target.id),
      [sha, sha]
    )
    todos = shown
    const browser = new Browser(at.url)
    await browser.signIn({ username: ann.username, password: 'password of ann' })
    for (const { path } of projects) {
      const { body } = await browser.get(`/${path}/issues/1`)
      for (const { path } of projects) t.match(body, `href="/${path}/commit/${sha}"`)
    }
  }
  await killMachine(beta)
  for (const { id } of todos)
    t.match(await ask(alpha, 'DELETE', `/todos/${id}`), { status: 200, json: { state: 'done', target: { id: sha } } })
  t.equal((await ask(alpha, 'GET', `/projects/${there.id}/repository/tree`)).status, 503, 'nobody has its disk')
  beta = await startMachine(second)
  await isBack(there)
})

t.test('a build starts a pipeline of a project on the other machine', async t => {
  const projects = [await projectOn('alpha'), await projectOn('beta')]
  const write = async (method: 'POST' | 'PUT', id: number, content: string) => {
    const file = { file_path: '.gitstead-ci.yml', branch_name: 'master', content, commit_message: 'Add builds' }
    const { status } = await ask(alpha, method, `/projects/${id}/repository/files`, file)
    t.ok(status === 200 || status === 201, `${method} ${status}`)
  }
  const idle = 'idle: { when: manual, script: [exit 0] }\n'
  for (const { id } of projects) await write('POST', id, idle)
  for (const [at, { id }] of projects.entries()) {
    const other = projects[1 - at]
    const variables = '{ FROM: $CI_COMMIT_MESSAGE of $CI_CONFIG_PATH }'
    const start = `{ trigger: ${other?.path}, variables: ${variables}, rules: [{ if: '$CI_PIPELINE_SOURCE != "pipeline"' }] }`
    await write('PUT', id, `${idle}start: ${start}\n`)
  }
  for (const [at, { id }] of projects.entries()) {
    interface Build {
      readonly name: string
      readonly status: string
    }
    const isStarted = async () => {
      const { json } = await ask<Build[]>(alpha, 'GET', `/projects/${id}/builds`)
      const build = json.find(({ name }) => name === 'start')
      if (build?.status === 'failed') throw new Error(`the build on machine ${at} failed`)
      return build?.status === 'success'
    }
    await eventually(isStarted, () => `machine ${at} starts no pipeline`)
    const [found] = await rows.query(
      "select count(*) as count from pipelines where project_id = ? and source = 'pipeline'",
      [projects[1 - at]?.id]
    )
    t.same(found, [{ count: 1 }])
  }
})

t.test('a CI file includes files of a project on the other machine', async t => {
  const [own, other] = [await projectOn('alpha'), await projectOn('beta')]
  const write = async (id: number, file_path: string, content: string) => {
    const file = { file_path, branch_name: 'master', content, commit_message: 'Add a file' }
    t.equal((await ask(alpha, 'POST', `/projects/${id}/repository/files`, file)).status, 201)
  }
  const job = (name: string) => `${name}: { when: manual, script: [exit 0] }\n`
  await write(other.id, 'ci/named.yml', `include: { local: 'ci/more/*.yml' }\n${job('named')}`)
  await write(other.id, 'ci/more/pattern.yml', job('pattern'))
  await write(other.id, 'templates/newest.yml', job('newest'))
  const tag = { tag_name: '1.0.0', ref: 'master' }
  t.equal((await ask(alpha, 'POST', `/projects/${other.id}/repository/tags`, tag)).status, 201)
  const host = new URL(alpha.url).host
  const includes = [
    `{ project: ${other.path}, file: ci/named.yml }`,
    `{ component: ${host}/${other.path}/newest@~latest }`
  ]
  await write(own.id, '.gitstead-ci.yml', `include: [${includes.join(', ')}]\n${job('own')}`)

  interface Pipeline {
    readonly status: string
    readonly yaml_errors: string | null
  }
  const last = async (count: number) => {
    const path = `/projects/${own.id}/pipelines`
    let found: Pipeline[] = []
    await eventually(
      async () => {
        found = (await ask<Pipeline[]>(alpha, 'GET', path)).json
        return found.length === count
      },
      () => `there are ${found.length} pipelines`
    )
    return found[0]
  }
  t.match(await last(1), { yaml_errors: null })
  const { json } = await ask<{ name: string }[]>(alpha, 'GET', `/projects/${own.id}/builds`)
  t.same(json.map(({ name }) => name).sort(), ['named', 'newest', 'own', 'pattern'])

  await killMachine(beta)
  await write(own.id, 'another', 'text')
  t.match(await last(2), { status: 'failed', yaml_errors: /the storage beta, whose machine does not answer/ })
  beta = await startMachine(second)
  await isBack(other)
})

t.test('a backup by one machine has the repositories of both, and restores them', async t => {
  const projects = [await projectOn('alpha'), await projectOn('beta')]
  const backups = join(folder, 'backups')
  const create = async () => {
    const { code, stdout, stderr } = await commandOn(first, [
      'backup',
      'create',
      '--to',
      backups,
      '--with-secrets',
      '--json'
    ])
    t.equal(code, 0, stdout + stderr)
    return JSON.parse(stdout) as { id: string; bytes: number; new_bytes: number }
  }
  const whole = await create()
  await git(source, ['commit', '--quiet', '--allow-empty', '-m', 'Later'])
  for (const { path } of projects) await git(source, ['push', '--quiet', remote(beta, path), 'master'])
  const next = await create()
  t.ok(whole.new_bytes > LARGE, `${whole.new_bytes} bytes`)
  t.ok(next.bytes > LARGE && next.new_bytes < LARGE, `${next.new_bytes} of ${next.bytes} bytes are new`)
  const verified = await commandOn(first, ['backup', 'verify', join(backups, next.id)])
  t.equal(verified.code, 0, verified.stdout + verified.stderr)
  const restored = join(folder, 'restored')
  const { code, stdout, stderr } = await gitstead(['restore', join(backups, next.id), '--into', restored])
  t.equal(code, 0, stdout + stderr)
  const head = (await git(source, ['rev-parse', 'HEAD'])).trim()
  for (const [at, project] of projects.entries()) {
    const path = join(restored, 'repositories', at === 0 ? 'alpha' : 'beta', pathOf(project))
    t.equal((await git(path, ['rev-parse', 'master'])).trim(), head)
    await git(path, ['fsck', '--full', '--strict'])
  }
})
