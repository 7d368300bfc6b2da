// A clone of a moved project still works, and a push shows the new address of the project.
import { execFile } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { environment } from '../../../git/history.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'

t.test('git over HTTP follows old paths', async t => {
  const app = await testApp(t)
  await app.fastify.listen({ port: 0, host: '127.0.0.1' })
  const address = `127.0.0.1:${(app.fastify.server.address() as AddressInfo).port}`
  const project = await app.make.project({ path: 'before' })
  await app.make.file(project, 'README', 'one')
  const { owner } = project
  const folder = t.testdir()
  const git = async (cwd: string, ...args: string[]) =>
    promisify(execFile)('git', args, { cwd: join(folder, cwd), env: environment })
  const url = `http://${owner.username}:${owner.privateToken}@${address}/${project.path}.git`
  await git('.', 'clone', '--quiet', url, 'work')
  await app.as(owner).put(`/projects/${project.id}`, { path: 'after' })

  await git('work', 'fetch', '--quiet')
  await git('work', 'commit', '--quiet', '--allow-empty', '-m', 'Two')
  const { stderr } = await git('work', 'push', 'origin', 'HEAD:master')
  t.match(stderr, /remote: This project has moved/)
  t.match(stderr, new RegExp(`remote: +http://.*/${owner.username}/after\\.git`))
  await git('work', 'remote', 'set-url', 'origin', url.replace('/before', '/after'))
  await git('work', 'commit', '--quiet', '--allow-empty', '-m', 'Three')
  t.notMatch((await git('work', 'push', 'origin', 'HEAD:master')).stderr, /has moved/)

  const stranger = await app.make.user()
  const hidden = url.replace(`${owner.username}:${owner.privateToken}`, `${stranger.username}:${stranger.privateToken}`)
  await t.rejects(git('.', 'ls-remote', hidden), /not found|404/i)
})

t.test('the statistics are counted after a push', async t => {
  const app = await testApp(t)
  const project = await app.make.project()
  await app.make.file(project, 'a', 'x'.repeat(5000))
  await app.runJobs({ until: new Date(Date.now() + 60_000) })
  const [found] = (await app.as(project.owner).get('/projects/owned', { statistics: true })).json()
  t.match(found.statistics, { commit_count: 1, repository_size: Number, build_artifacts_size: 0 })
  t.ok(found.statistics.repository_size > 0)
  t.equal(found.statistics.storage_size, found.statistics.repository_size)
})
