// The job that follows a push: it makes clones cheap.
import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { replaceDefaultBranch } from '../../../../src/areas/projects/projects/project-columns.js'
import { ensureRepository } from '../../../../src/areas/projects/projects/repositories.js'
import { row } from '../../../../src/db/connect/sql.js'
import { enqueue } from '../../../../src/queue/enqueue.js'
import { git, stream } from '../../../git/history.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory } from '../../../helpers/factory.js'
import { runJobs } from '../../../helpers/jobs.js'
import t from '../../../helpers/tap.js'

await testDatabase()

t.test('a large push is packed with a bitmap, small ones after it are not, and much more is packed again', async t => {
  const project = await factory.project()
  const repository = await ensureRepository({ id: project.id, storage: 'default' })
  const bitmaps = () => readdirSync(join(repository, 'objects/pack')).filter(name => name.endsWith('.bitmap'))
  const push = async (commits: number) => {
    git(repository, ['fast-import', '--quiet', '--force'], stream(commits, commits))
    await enqueue('repository.optimise', { projectId: project.id })
    t.ok((await runJobs()).includes('repository.optimise'))
  }
  await push(20)
  t.same(bitmaps(), [], 'git answers a small repository as fast without one')
  await push(800)
  const [first] = bitmaps()
  t.ok(first)
  t.equal(git(repository, ['rev-list', '--use-bitmap-index', '--count', '--objects', '--all']), objectsOf(repository))
  git(repository, ['commit-graph', 'verify', '--no-progress'])
  git(repository, ['fast-import', '--quiet', '--force'], 'blob\ndata 3\nnew\n')
  await push(800)
  t.same(bitmaps(), [first], 'one object more')
  await push(2500)
  t.equal(bitmaps().length, 1)
  t.not(bitmaps()[0], first)
})

t.test('the commit graph is written when it lacks 50 commits, or when it is old', async t => {
  const project = await factory.project()
  const repository = await ensureRepository({ id: project.id, storage: 'default' })
  const chain = join(repository, 'objects/info/commit-graphs/commit-graph-chain')
  /** Pushes the rest of this many commits, and returns whether the job writes a layer. */
  async function isWritten(commits: number): Promise<boolean> {
    const before = existsSync(chain) ? readFileSync(chain, 'utf8') : ''
    git(repository, ['fast-import', '--quiet', '--force'], stream(commits))
    await enqueue('repository.optimise', { projectId: project.id })
    t.ok((await runJobs()).includes('repository.optimise'))
    return readFileSync(chain, 'utf8') !== before
  }
  t.equal(await isWritten(3), true, 'there was none')
  t.equal(await isWritten(3), false, 'nothing is new')
  t.equal(await isWritten(30), false, '30 commits, with those of the side branch')
  t.equal(await isWritten(60), true, '63 commits')
  t.equal(await isWritten(64), false, '4 commits')
  const old = new Date(Date.now() - 700_000)
  utimesSync(chain, old, old)
  t.equal(await isWritten(64), true, 'these 4 commits, later')
  utimesSync(chain, old, old)
  t.equal(await isWritten(64), false, 'an old graph with all commits')
  git(repository, ['commit-graph', 'verify', '--no-progress'])
})

t.test('the job counts commits and bytes as git does', async t => {
  const project = await factory.project()
  await replaceDefaultBranch(project.id, null, 'master')
  const repository = await ensureRepository({ id: project.id, storage: 'default', default_branch: null })
  for (const commits of [1, 40, 80, 700]) {
    git(repository, ['fast-import', '--quiet', '--force'], stream(commits))
    await enqueue('repository.optimise', { projectId: project.id })
    await runJobs()
    const found = await row('select commit_count from project_statistics where project_id = ?', [project.id])
    t.match(found, { commit_count: Number(git(repository, ['rev-list', '--count', 'master'])) })
  }
})

const objectsOf = (repository: string) => String(git(repository, ['rev-list', '--objects', '--all']).split('\n').length)
