import { commitsOutsideGraph, countHistory } from '../../../src/git/history/commit-counts.js'
import { writeCommitGraph } from '../../../src/git/repository/maintenance.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import t from '../../helpers/tap.js'
import { git, repositoryWith, stream } from '../history.js'

t.teardown(() => closeGitProcesses())

t.test('commits are counted as git counts them, with and without a commit-graph', async t => {
  const repository = await repositoryWith(t)
  const push = (commits: number) => git(repository, ['fast-import', '--quiet', '--force'], stream(commits))
  const counted = (name: string) => Number(git(repository, ['rev-list', '--count', name]))
  const check = async (most: number) => {
    for (const name of ['master', 'side', 'master~7']) {
      t.equal(await countHistory(repository, git(repository, ['rev-parse', name]), most), counted(name), name)
    }
  }
  push(100)
  await check(1000)
  t.equal(await commitsOutsideGraph(repository, 1000), counted('--all'))
  t.equal(await commitsOutsideGraph(repository, 50), null)
  t.equal(await countHistory(repository, git(repository, ['rev-parse', 'master']), 50), null)
  await writeCommitGraph(repository)
  await check(0)
  t.equal(await commitsOutsideGraph(repository, 0), 0)
  const before = counted('--all')
  push(130)
  git(repository, ['tag', '-a', '-m', 'a tag', 'v1', 'master'])
  t.equal(await commitsOutsideGraph(repository, 100), counted('--all') - before)
  await check(100)
})

t.test('refs that are not commits are left to git', async t => {
  const repository = await repositoryWith(t, 30)
  git(repository, ['tag', 'file', 'master:empty'])
  t.equal(await commitsOutsideGraph(repository, 1000), null)
})
