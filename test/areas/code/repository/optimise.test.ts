// The job that follows a push: it makes clones cheap.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ensureRepository } from '../../../../src/areas/projects/projects/repositories.js'
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

const objectsOf = (repository: string) => String(git(repository, ['rev-list', '--objects', '--all']).split('\n').length)
