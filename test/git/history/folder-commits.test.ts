// The last commits of all entries of a folder, compared with those that git finds for each path.

import { forgetGraph } from '../../../src/git/history/commit-graph.js'
import { lastCommitsIn } from '../../../src/git/history/folder-commits.js'
import { forget } from '../../../src/git/objects/cache.js'
import { writeCommitGraph } from '../../../src/git/repository/maintenance.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import t from '../../helpers/tap.js'
import { git, repositoryWith } from '../history.js'

t.teardown(() => closeGitProcesses())

const repository = await repositoryWith(t, 400)

async function compare(commit: string, folder: string) {
  if (folder !== '' && git(repository, ['ls-tree', commit, '--', folder]) === '') return
  const tree = folder === '' ? commit : `${commit}:${folder}`
  const names = git(repository, ['-c', 'core.quotePath=false', 'ls-tree', '-z', '--name-only', tree])
    .split('\0')
    .filter(name => name !== '' && !name.includes('\ufffd'))
  const found = await lastCommitsIn(repository, commit, { folder, names })
  const prefix = folder === '' ? '' : `${folder}/`
  const expected = names.map(name => [
    name,
    git(repository, ['rev-list', '-1', commit, '--', `:(literal)${prefix}${name}`])
  ])
  t.same(
    names.map(name => [name, found.get(name)]),
    expected,
    `${commit} ${folder}`
  )
}

t.test('without a commit-graph, with one, and after an earlier answer', async t => {
  const ids = git(repository, ['rev-list', '--first-parent', 'master']).split('\n')
  const commits = [300, 120, 119, 40, 0].map(at => ids[at] ?? '')
  for (const graph of [false, true]) {
    if (graph) await writeCommitGraph(repository)
    forget(repository)
    forgetGraph(repository)
    for (const commit of commits) for (const folder of ['', 'lib', 'lib/part-3', 'moved']) await compare(commit, folder)
  }
  t.ok(commits.every(Boolean))
})

t.test('entries that are not asked for are left out, and a missing commit has none', async t => {
  const tip = git(repository, ['rev-parse', 'master'])
  t.same([...(await lastCommitsIn(repository, tip, { folder: '', names: ['link'] })).keys()], ['link'])
  t.equal((await lastCommitsIn(repository, 'a'.repeat(40), { folder: '', names: ['link'] })).size, 0)
})
