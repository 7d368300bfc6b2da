// What a stock git client shows its user when a push is refused, and the options of a push, over HTTP and SSH.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { repositoryPath } from '../../src/areas/projects/projects/repositories.js'
import { loadConfig } from '../../src/config.js'
import { rows } from '../../src/db/connect/sql.js'
import { DEVELOPER, REPORTER } from '../../src/lib/levels.js'
import { startSsh } from '../../src/server/ssh/start.js'
import { testApp } from '../helpers/app.js'
import type { TestProject, TestUser } from '../helpers/factory.js'
import { git, remoteUrl, tryGit } from '../scenarios/client.js'
import { gitOverSsh, identityOf } from './ssh-client.js'

const app = await testApp(t)
const url = await app.fastify.listen({ port: 0, host: '127.0.0.1' })
process.env.GITSTEAD_SSH_PORT = '0'
loadConfig({ port: 0 })
const server = await startSsh()
if (!server) throw new Error('no SSH server')
t.teardown(() => server.stop())
const keys = t.testdir()

const remoteOf = (project: TestProject, who: TestUser) => remoteUrl(url, project.path, who.username, who.privateToken)

async function subject(folder: string) {
  const project = await app.make.project()
  await app.make.file(project, '.gitstead-ci.yml', 'build: { script: make }\n')
  await git(folder, ['clone', '--quiet', remoteOf(project, project.owner), 'work'])
  const work = join(folder, 'work')
  const identity = await identityOf(keys, project.owner)
  const overSsh = `ssh://git@127.0.0.1:${server?.port}/${project.path}.git`
  return {
    project,
    work,
    overHttp: (...args: string[]) => tryGit(work, ['push', ...args]),
    overSsh: (specs: string[], ...args: string[]) => gitOverSsh(work, identity, ['push', ...args, overSsh, ...specs]),
    commit: async (name: string) => {
      writeFileSync(join(work, name), name)
      await git(work, ['add', '.'])
      await git(work, ['commit', '--quiet', '-m', name])
    }
  }
}

t.test('a forced push to a protected branch says so, and gives no wrong advice', async t => {
  const { project, work, overHttp, overSsh, commit } = await subject(t.testdir({}))
  await app.as(project.owner).put(`/projects/${project.id}/repository/branches/master/protect`)
  await app.make.branch(project, 'free')
  await commit('first')
  t.ok((await overHttp('origin', 'HEAD:master', 'HEAD:free')).ok)
  await git(work, ['commit', '--quiet', '--amend', '-m', 'rewritten'])
  const pushes = [
    await overHttp('origin', '+HEAD:master'),
    await overSsh(['+HEAD:master']),
    await overHttp('origin', '+HEAD:master', '+HEAD:free')
  ]
  for (const { ok, stderr } of pushes) {
    t.notOk(ok)
    t.match(stderr, /remote rejected\] +HEAD -> master \(You are not allowed to force push code to a protected branch/)
    t.notMatch(stderr, /pull first|non-fast-forward|\(hook declined/)
  }
  t.match(pushes[2]?.stderr, /HEAD -> free \(forced update\)/)
})

t.test('only branches, tags and notes can be pushed', async t => {
  const { project, work, overHttp, overSsh } = await subject(t.testdir({}))
  for (const ref of ['refs/changes/1', 'refs/pull/1/head', 'refs/remotes/origin/x', 'refs/stash/x']) {
    t.match((await overHttp('origin', `HEAD:${ref}`)).stderr, /\(only branches, tags and notes can be pushed\)/, ref)
  }
  t.match((await overSsh(['HEAD:refs/changes/1'])).stderr, /\(only branches, tags and notes can be pushed\)/)
  t.ok((await overHttp('origin', 'HEAD:refs/heads/a', 'HEAD:refs/tags/a', 'HEAD:refs/notes/a')).ok)
  const repository = repositoryPath({ id: project.id, storage: 'default' })
  await git(repository, ['update-ref', 'refs/changes/1', await git(work, ['rev-parse', 'HEAD'])])
  t.ok((await overHttp('origin', ':refs/changes/1')).ok, 'one from earlier can be deleted')
})

t.test('a push without permission says so', async t => {
  const text = /You are not allowed to push code to this project\./
  const { project, work } = await subject(t.testdir({}))
  const reporter = await app.make.member(project, REPORTER)
  t.match((await tryGit(work, ['push', remoteOf(project, reporter), 'HEAD:x'])).stderr, text)
  const remote = `ssh://git@127.0.0.1:${server.port}/${project.path}.git`
  const identity = await identityOf(keys, reporter)
  t.match((await gitOverSsh(work, identity, ['push', remote, 'HEAD:x'])).stderr, text)
  const developer = await app.make.member(project, DEVELOPER)
  t.ok((await tryGit(work, ['push', remoteOf(project, developer), 'HEAD:x'])).ok)
})

t.test('a push of a new branch prints where its merge request is opened, and later where it is', async t => {
  const { project, work, overHttp, overSsh, commit } = await subject(t.testdir({}))
  const page = `/${project.path}/merge_requests`
  await commit('first')
  const made = await overHttp('origin', 'HEAD:a/b&c')
  t.match(made.stderr, `remote: open a merge request for a/b&c:`)
  t.match(made.stderr, `${page}/new?merge_request%5Bsource_branch%5D=a%2Fb%26c`)
  t.match((await overSsh(['HEAD:other'])).stderr, `${page}/new?merge_request%5Bsource_branch%5D=other`)
  await commit('second')
  t.notMatch((await overHttp('origin', 'HEAD:other', 'HEAD:master')).stderr, 'merge_requests', 'nothing new')
  const body = { source_branch: 'other', target_branch: 'a/b&c', title: 'x' }
  const { iid } = (await app.as(project.owner).post(`/projects/${project.id}/merge_requests`, body)).json()
  await commit('third')
  t.match(
    (await overSsh(['HEAD:other'])).stderr,
    new RegExp(`merge request !${iid}:\\s+remote:   \\S+${page}/${iid}\\s`)
  )
  await app.as(project.owner).put(`/projects/${project.id}`, { merge_requests_enabled: false })
  await git(work, ['commit', '--quiet', '--amend', '-m', 'again'])
  t.notMatch((await overHttp('origin', '+HEAD:other', 'HEAD:more')).stderr, 'merge_requests', 'switched off')
})

t.test('push options', async t => {
  const { project, overHttp, overSsh, commit } = await subject(t.testdir({}))
  const pipelines = async () => {
    await app.runJobs()
    return (await rows('select id from pipelines where project_id = ?', [project.id])).length
  }
  const before = await pipelines()

  await t.test('ci.skip makes no pipeline', async t => {
    await commit('one')
    const first = await overHttp('-o', 'ci.skip', 'origin', 'HEAD:master')
    t.match(first, { ok: true, stderr: /remote: no pipeline, because of the push option ci\.skip/ })
    await commit('two')
    t.match(await overSsh(['HEAD:master'], '-o', 'ci.skip', '-o', 'other'), { ok: true })
    t.equal(await pipelines(), before)
  })

  await t.test('others are ignored, also by a deletion', async t => {
    await commit('three')
    t.match(await overHttp('-o', 'merge_request.create', '-o', 'ü=1', 'origin', 'HEAD:master', 'HEAD:gone'), {
      ok: true
    })
    t.equal(await pipelines(), before + 2)
    t.match(await overSsh([':gone'], '-o', 'anything'), { ok: true })
    await commit('four')
    t.match(await overSsh(['HEAD:master'], '-o', 'anything'), { ok: true })
    t.equal(await pipelines(), before + 3)
  })

  await t.test('too many are refused with the limit', async t => {
    await commit('five')
    const many = [...Array(51).keys()].flatMap(number => ['-o', `option-${number}`])
    const long = ['-o', 'x'.repeat(8193)]
    for (const { ok, stderr } of [
      await overHttp(...many, 'origin', 'HEAD:master'),
      await overHttp(...long, 'origin', 'HEAD:master'),
      await overSsh(['HEAD:master'], ...many)
    ]) {
      t.notOk(ok)
      t.match(stderr, /\(one push may have at most 50 options, in 8192 bytes\)/)
    }
    t.ok((await overHttp(...many.slice(2), 'origin', 'HEAD:master')).ok)
  })
})

t.test('a push to a full disk is refused before git sends anything', async t => {
  const home = t.testdir({ copy: {} })
  const { project, overHttp, overSsh, commit } = await subject(home)
  const repository = repositoryPath({ id: project.id, storage: 'default' })
  const folder = join(home, 'copy')
  spawnSync('cp', ['-a', `${repository}/.`, folder])
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', repository]).status === 0
  if (!mounted) return t.comment('this machine allows no mount')
  try {
    spawnSync('cp', ['-a', `${folder}/.`, repository])
    spawnSync('dd', ['if=/dev/zero', `of=${join(repository, 'filler')}`, 'bs=1k', 'count=4096'])
    await commit('more')
    for (const { ok, stderr } of [await overHttp('origin', 'HEAD:master'), await overSsh(['HEAD:master'])]) {
      t.notOk(ok)
      t.match(stderr, /(?:remote|gitstead): the disk is full/)
    }
  } finally {
    spawnSync('umount', ['--lazy', repository])
  }
})
