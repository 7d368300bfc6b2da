// A project follows another one over HTTP, with real git on both sides.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beginRun, startDueMirrors } from '../../../../src/areas/code/mirrors/mirror-runs.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { config, loadConfig } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { registerProcess, unregisterProcess } from '../../../../src/queue/processes.js'
import { testApp } from '../../../helpers/app.js'
import { projectRow, type TestProject } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { gitWith } from '../../../helpers/trees.js'

/** Changes the configuration until the end of the test. The remotes of these tests are on the loopback interface. */
function configure(t: { teardown(fn: () => void): void }, changes: object) {
  const { home } = config()
  const usual = { home, hooks: { allow: ['127.0.0.1'] } }
  loadConfig({ ...usual, ...changes })
  t.teardown(() => void loadConfig(usual))
}

t.test('a pull mirror', async t => {
  const app = await testApp(t)
  const { port } = new URL(await app.fastify.listen({ host: '127.0.0.1', port: 0 }))
  t.teardown(() => app.fastify.server.closeAllConnections())
  const source = await app.make.project()
  await app.make.file(source, 'a', 'content')
  const { owner } = source
  const url = `http://${owner.username}:${owner.password}@127.0.0.1:${port}/${source.path}.git`
  const refsOf = async (project: TestProject) =>
    Object.fromEntries(
      gitWith(repositoryPath(project), ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags'])
        .split('\n')
        .filter(Boolean)
        .map(line => line.split(' ') as [string, string])
    )
  const asOwner = (project: TestProject) => app.as(project.owner)
  const shown = async (project: TestProject) =>
    (await asOwner(project).get(`/projects/${project.id}/mirror/pull`)).json()
  /** Runs the mirror now, whatever its plan. */
  const sync = async (project: TestProject) => {
    const asked = await asOwner(project).post(`/projects/${project.id}/mirror/pull`)
    t.equal(asked.statusCode, 201)
    await app.runJobs()
    return shown(project)
  }
  const follow = async (body: object = {}) => {
    const project = await app.make.project()
    const made = await asOwner(project).put(`/projects/${project.id}/mirror/pull`, { url, ...body })
    t.equal(made.statusCode, 200, made.body)
    return { project, made }
  }
  const { home } = config()
  configure(t, {})
  t.teardown(() => void loadConfig({ home }))

  await t.test('follows branches and tags, in the name of its user', async t => {
    const { project, made } = await follow()
    t.notMatch(made.body, owner.password)
    t.match(made.json(), {
      url: `http://127.0.0.1:${port}/${source.path}.git`,
      has_password: true,
      state: 'waiting',
      interval: 60,
      hook_token: /^.{20}$/,
      run_as: project.owner.username
    })
    t.notMatch(JSON.stringify(await rows('select * from mirrors')), owner.password, 'the password is encrypted')
    await app.runJobs()
    t.same(await refsOf(project), await refsOf(source))
    const now = await shown(project)
    t.match(now, { state: 'succeeded', moved_refs: 1, failures: 0, hook_token: null, last_error: null })
    t.ok(Date.parse(now.next_attempt_at) > Date.now() + 50 * 60_000)
    t.equal((await projectRow(project)).default_branch, 'master')
    const feed = (await asOwner(project).get(`/projects/${project.id}/events`)).json()
    t.match(feed[0], { action_name: 'pushed new', author_id: project.owner.id })

    await app.make.file(source, 'b', 'more')
    await app.make.branch(source, 'feature')
    await asOwner(source).post(`/projects/${source.id}/repository/tags`, { tag_name: 'v1', ref: 'master' })
    t.match(await sync(project), { state: 'succeeded', moved_refs: 3 })
    t.same(await refsOf(project), await refsOf(source))
    t.match(await sync(project), { state: 'succeeded', moved_refs: 0 }, 'nothing is new')
    const audited = await rows<{ action: string; changes: string }>(
      "select action, changes from audit_events where action like 'mirror.%' order by id"
    )
    t.equal(audited[0]?.action, 'mirror.create')
    t.notMatch(JSON.stringify(audited), owner.password)
  })

  await t.test('starts pipelines like a push, but none for the first fetch', async t => {
    const built = await app.make.project({ owner })
    await app.make.file(built, '.gitstead-ci.yml', 'build:\n  script: [make]\n  when: manual\n')
    await app.make.branch(built, 'feature')
    const { project } = await follow({ url: url.replace(source.path, built.path) })
    await app.runJobs()
    t.match(await shown(project), { state: 'succeeded', moved_refs: 2 })
    const pipelines = async () => (await asOwner(project).get(`/projects/${project.id}/pipelines`)).json()
    t.same(await pipelines(), [])
    await app.make.file(built, 'b', 'more')
    await sync(project)
    t.match(await pipelines(), [{ ref: 'master', user: { username: project.owner.username } }])
  })

  await t.test('reports a branch that has diverged and a rewritten tag, and moves the others', async t => {
    const { project } = await follow()
    await app.runJobs()
    await app.make.file(project, 'own', 'here', 'feature')
    const before = await refsOf(project)
    await app.make.file(source, 'c', 'there', 'feature')
    await app.make.file(source, 'd', 'there')
    const repository = repositoryPath(source)
    gitWith(repository, ['update-ref', 'refs/tags/v1', 'refs/heads/master'])
    const result = await sync(project)
    t.match(result, { state: 'partial', moved_refs: 1 })
    t.strictSame(result.refs.map(({ ref, status }: { ref: string; status: string }) => `${status} ${ref}`).sort(), [
      'diverged refs/heads/feature',
      'diverged refs/tags/v1'
    ])
    const after = await refsOf(project)
    const theirs = await refsOf(source)
    t.equal(after['refs/heads/feature'], before['refs/heads/feature'])
    t.equal(after['refs/tags/v1'], before['refs/tags/v1'])
    t.equal(after['refs/heads/master'], theirs['refs/heads/master'])

    await asOwner(project).put(`/projects/${project.id}/mirror/pull`, { overwrite_diverged: true })
    await app.runJobs()
    t.match(await shown(project), { state: 'succeeded', moved_refs: 2, refs: [] })
    t.same(await refsOf(project), theirs)
  })

  await t.test('never rewrites a protected branch', async t => {
    const { project } = await follow({ overwrite_diverged: true })
    await app.runJobs()
    await app.make.file(project, 'mine', 'here')
    const before = await refsOf(project)
    const result = await sync(project)
    t.match(result, {
      state: 'partial',
      refs: [{ ref: 'refs/heads/master', status: 'refused', reason: /force push code to a protected branch/ }]
    })
    t.same(await refsOf(project), before)
  })

  await t.test('follows only the branches of its patterns', async t => {
    const { project } = await follow({ branch_patterns: ['feat*', 'not-there'] })
    await app.runJobs()
    t.same(Object.keys(await refsOf(project)), ['refs/heads/feature'])
    const tags = { branch_patterns: ['refs/tags/v*'] }
    t.equal((await asOwner(project).put(`/projects/${project.id}/mirror/pull`, tags)).statusCode, 200)
    await app.runJobs()
    t.same(Object.keys(await refsOf(project)), ['refs/heads/feature', 'refs/tags/v1'])
    const wrong = [
      ['a..b'],
      ['a*b*c'],
      ['-x'],
      ['refs/merge-requests/1/*'],
      Array.from({ length: 21 }, (_, n) => `b${n}`)
    ]
    for (const branch_patterns of wrong) {
      const refused = await asOwner(project).put(`/projects/${project.id}/mirror/pull`, { branch_patterns })
      t.equal(refused.statusCode, 400, String(branch_patterns))
    }
  })

  await t.test('a hook of the remote starts it, with its token', async t => {
    const { project, made } = await follow({ interval: 0 })
    await app.runJobs()
    t.match(await shown(project), { next_attempt_at: null })
    await app.make.file(source, `hook-${project.id}`, 'x')
    const hook = `/projects/${project.id}/mirror/pull/hook`
    t.equal((await app.nobody.post(hook)).statusCode, 404)
    t.equal((await app.nobody.post(`${hook}?token=wrong`)).statusCode, 404)
    const elsewhere = `/projects/${source.id}/mirror/pull/hook?token=${made.json().hook_token}`
    t.equal((await app.nobody.post(elsewhere)).statusCode, 404)
    const token = { 'x-gitlab-token': made.json().hook_token, 'content-type': 'application/json' }
    const call = { method: 'POST', url: `/api/v3${hook}`, headers: token, payload: '{"ref":"x"}' } as const
    t.equal((await app.nobody.inject(call)).statusCode, 201)
    t.equal((await app.nobody.inject(call)).statusCode, 201)
    t.same(await rows("select 1 from jobs where name = 'mirror.run'"), [{ 1: 1 }], 'both calls share one run')
    await app.runJobs({ until: new Date(Date.now() + 60_000) })
    // The run was planned for some seconds after the last one.
    await execute('update mirrors set due_at = now(3) where project_id = ?', [project.id])
    await startDueMirrors()
    await app.runJobs()
    t.same(await refsOf(project), await refsOf(source))
    const renewed = await asOwner(project).put(`/projects/${project.id}/mirror/pull`, { new_hook_token: true })
    t.match(renewed.json().hook_token, /^.{20}$/)
    t.equal((await app.nobody.inject(call)).statusCode, 404, 'the old token is void')
  })

  await t.test('names what keeps it from running', async t => {
    const { project } = await follow()
    await app.runJobs()
    const user = await app.make.member(project)
    const asMember = app.as(user)
    await asMember.put(`/projects/${project.id}/mirror/pull`, { interval: 30 })
    const problem = async () => {
      await app.runJobs()
      const { state, last_problem, failures } = await shown(project)
      return [state, last_problem, failures]
    }
    await execute("update users set state = 'blocked' where id = ?", [user.id])
    t.same(await problem(), ['stopped', 'account_blocked', 0])
    t.equal((await shown(project)).run_as, user.username, 'the last one who changed it')
    await execute("update users set state = 'active' where id = ?", [user.id])
    await execute('update members set access_level = 30 where user_id = ?', [user.id])
    await sync(project)
    t.same(await problem(), ['stopped', 'account_not_allowed', 0])
    await execute('update mirrors set user_id = null where project_id = ?', [project.id])
    await sync(project)
    t.same(await problem(), ['stopped', 'account_deleted', 0])
    await asOwner(project).put(`/projects/${project.id}/mirror/pull`, { url: url.replace(owner.password, 'wrong') })
    t.same(await problem(), ['failed', 'login_refused', 1])
    t.notMatch(JSON.stringify(await shown(project)), /wrong/)
    await execute('update projects set archived = 1 where id = ?', [project.id])
    await sync(project)
    t.same(await problem(), ['stopped', 'project_archived', 0])
  })

  await t.test('stays within the limits of imports', async t => {
    const { project } = await follow({ url: `${url.slice(0, -4)}-missing.git` })
    await app.runJobs()
    t.match(await shown(project), { state: 'failed', last_problem: 'not_found' })
    configure(t, { imports: { max_size: 300 } })
    await asOwner(project).put(`/projects/${project.id}/mirror/pull`, { url })
    await app.runJobs()
    t.match(await shown(project), { state: 'failed', last_problem: 'too_large', failures: 1 })
    configure(t, { imports: { max_objects: 2 } })
    t.match(await sync(project), { state: 'failed', last_problem: 'too_many_objects', failures: 2 })
    const objects = gitWith(repositoryPath(project), ['count-objects', '-v'])
    t.match(objects, /^in-pack: 0$/m, 'nothing of it is kept')
    configure(t, {})
    const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
    const id = 'a'.repeat(40)
    const many = Array.from({ length: 20_001 }, (_, n) => line(`${id} refs/heads/b${n}${n === 0 ? '\0' : ''}\n`))
    const endless = createServer((_, response) => {
      response.setHeader('content-type', 'application/x-git-upload-pack-advertisement')
      response.end(`${line('# service=git-upload-pack\n')}0000${many.join('')}0000`)
    })
    await new Promise<void>(resolve => endless.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      endless.closeAllConnections()
      endless.close()
    })
    const wide = { url: `http://127.0.0.1:${(endless.address() as AddressInfo).port}/a.git` }
    await asOwner(project).put(`/projects/${project.id}/mirror/pull`, wide)
    await app.runJobs()
    t.match(await shown(project), { state: 'failed', last_problem: 'too_many_refs' })
    const silent = createServer(() => {})
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      silent.closeAllConnections()
      silent.close()
    })
    configure(t, { imports: { timeout: 1 } })
    const body = { url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/a.git` }
    await asOwner(project).put(`/projects/${project.id}/mirror/pull`, body)
    await app.runJobs()
    t.match(await shown(project), { state: 'failed', last_problem: 'timeout', has_password: false })
  })

  await t.test('reaches no private address, whatever the remote says', async t => {
    const asked: string[] = []
    const inside = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.end()
    })
    await new Promise<void>(resolve => inside.listen(0, '127.0.0.2', resolve))
    const redirecting = createServer((_, response) => {
      const to = `http://127.0.0.2:${(inside.address() as AddressInfo).port}/x/info/refs?service=git-upload-pack`
      response.writeHead(302, { location: to }).end()
    })
    await new Promise<void>(resolve => redirecting.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      for (const server of [inside, redirecting]) {
        server.closeAllConnections()
        server.close()
      }
    })
    const { project } = await follow({ url: `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}/a.git` })
    await app.runJobs()
    t.match(await shown(project), { state: 'failed', last_problem: 'address_refused' })
    t.same(asked, [])
    for (const wrong of [
      'http://10.0.0.1/a.git',
      'ssh://git@10.0.0.1/a.git',
      'git@169.254.169.254:a.git',
      'git://example.org/a',
      'file:///etc',
      'ext::sh -c id',
      'ssh://-oProxyCommand=x/a',
      'ssh://git:secret@example.org/a',
      '-x@example.org:a',
      'https://example.org/a?b=c'
    ]) {
      const refused = await asOwner(project).put(`/projects/${project.id}/mirror/pull`, { url: wrong })
      t.equal(refused.statusCode, 400, wrong)
    }
    configure(t, { hooks: { allow: [] } })
    t.match(await sync(project), { state: 'failed', last_problem: 'address_refused' }, 'the rules have changed since')
  })

  await t.test('a run that was killed is taken over, and runs once at a time', async t => {
    const { project } = await follow()
    const found = await row<{ id: number }>('select id from mirrors where project_id = ?', [project.id])
    const id = found?.id ?? 0
    const processId = await registerProcess({ queues: ['mirrors'], concurrency: 1 })
    const lost = await beginRun(id, processId)
    t.ok(lost)
    lost?.end()
    t.equal(await beginRun(id, processId), null, 'somebody runs it')
    t.match(await shown(project), { state: 'running' })
    await app.runJobs()
    t.same(await refsOf(project), {}, 'its job does nothing')
    await execute('update mirrors set due_at = now(3) - interval 1 second where id = ?', [id])
    t.equal(await startDueMirrors(), 1)
    t.equal(await startDueMirrors(), 0, 'its job waits already')
    await app.runJobs()
    t.same(await refsOf(project), await refsOf(source))
    await execute('update mirrors set due_at = now(3) where id = ?', [id])
    const dead = await beginRun(id, processId)
    await unregisterProcess(processId)
    const next = await beginRun(id, processId)
    t.ok(next, 'the worker of the run is gone')
    for (const run of [dead, next]) run?.end()
  })

  await t.test('is removed, and with its project', async t => {
    const { project } = await follow()
    const path = `/projects/${project.id}/mirror/pull`
    t.equal((await asOwner(project).put(path, { enabled: false })).json().state, 'disabled')
    t.equal((await asOwner(project).post(path)).statusCode, 400)
    t.equal((await asOwner(project).delete(path)).statusCode, 200)
    t.equal((await asOwner(project).get(path)).statusCode, 404)
    t.equal((await asOwner(project).put(path, {})).statusCode, 400, 'a new one needs a URL')
    await app.runJobs()
    const { project: other } = await follow()
    await asOwner(other).delete(`/projects/${other.id}`)
    await app.runJobs()
    t.same(await rows('select id from mirrors where project_id in (?, ?)', [project.id, other.id]), [])
  })
})
