// Compares the last commit that changed a path, found with the commit-graph in this process, with git's result.
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitGraphOf, forgetGraph, pathKeys } from '../../../src/git/history/commit-graph.js'
import { lastCommitOfPath } from '../../../src/git/history/commits.js'
import { walkToLastChange } from '../../../src/git/history/last-commit.js'
import { forget } from '../../../src/git/objects/cache.js'
import { writeCommitGraph } from '../../../src/git/repository/maintenance.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import t from '../../helpers/tap.js'
import { git, repositoryWith } from '../history.js'

t.teardown(() => closeGitProcesses())

const person = 'committer Ann <ann@example.com> 1700000000 +0000'

/**
 * Commits after the history: a file that is deleted and added again, a changed mode, an octopus merge that takes each
 * path from another parent.
 */
const octopus = (from: string) =>
  [
    commit(
      'master',
      1,
      `from ${from}`,
      'M 100644 inline odd/file\ndata 4\nodd\n',
      'M 100644 inline odd/gone\ndata 2\na\n'
    ),
    commit('master', 2, '', 'D odd/gone', 'M 100755 inline odd/file\ndata 4\nodd\n'),
    commit('one', 3, 'from :2', 'M 100644 inline odd/one\ndata 2\n1\n'),
    commit('two', 4, 'from :2', 'M 100644 inline odd/two\ndata 2\n2\n'),
    commit('three', 5, 'from :2', 'M 100644 inline odd/three\ndata 2\n3\n'),
    commit(
      'master',
      6,
      '',
      'merge :3\nmerge :4\nmerge :5',
      'M 100644 inline odd/one\ndata 2\n1\n',
      'M 100644 inline odd/two\ndata 2\n2\n',
      'M 100644 inline odd/three\ndata 2\n3\n',
      'M 100644 inline odd/own\ndata 4\nown\n'
    ),
    commit('master', 7, '', 'M 100644 inline odd/gone\ndata 2\na\n')
  ].join('')

function commit(branch: string, mark: number, from: string, ...changes: string[]): string {
  const head = `commit refs/heads/${branch}\nmark :${mark}\n${person}\ndata 2\nx\n${from ? `${from}\n` : ''}`
  return `${head}${changes.join('\n')}\n\n`
}

t.test('the graph finds the same commit as git for every path that ever existed', async t => {
  const repository = await repositoryWith(t, 400)
  await writeCommitGraph(repository)
  git(repository, ['fast-import', '--quiet', '--force'], octopus(git(repository, ['rev-parse', 'master'])))
  git(repository, ['fast-import', '--quiet', '--force'], commit('master', 1, 'from refs/heads/master^0', 'D odd/own'))
  // A commit that changes only the mode of a file.
  const script = git(repository, ['rev-parse', 'master:bin/run'])
  const mode = commit('master', 1, 'from refs/heads/master^0', `M 100644 ${script} bin/run`)
  git(repository, ['fast-import', '--quiet', '--force'], mode)
  await writeCommitGraph(repository)
  const layers = readdirSync(join(repository, 'objects/info/commit-graphs'))
  t.ok(layers.length >= 2, 'the graph has layers')
  git(
    repository,
    ['fast-import', '--quiet', '--force'],
    commit('master', 1, 'from refs/heads/master^0', 'M 100644 inline newest\ndata 2\nn\n')
  )
  const head = git(repository, ['rev-parse', 'master'])
  const ever = git(repository, ['log', '--format=', '--name-only', '-m', 'master']).split('\n').filter(Boolean)
  const files = [...new Set(ever)]
  const folders = [...new Set(files.map(file => file.split('/').slice(0, -1).join('/')).filter(Boolean))]
  const paths = [...files, ...folders, 'never/was', 'lib/part-3/never'].filter(path => pathKeys(path))
  t.ok(paths.length > 100)
  t.ok(await commitGraphOf(repository))
  for (const path of paths) {
    const expected = git(repository, ['--literal-pathspecs', 'rev-list', '-1', head, '--', path]) || null
    // The name of a file whose bytes are unknown here is left to git.
    const isEscaped = /\\[0-7]{3}/.test(path)
    t.equal(await walkToLastChange(repository, head, path), isEscaped ? undefined : expected, path)
  }
})

t.test('git is asked when the graph is missing or damaged', async t => {
  const path = 'lib/part-1/file-1.txt'
  for (const damage of ['none', 'cut', 'pointers']) {
    const repository = await repositoryWith(t, 60)
    const head = git(repository, ['rev-parse', 'master'])
    const expected = git(repository, ['rev-list', '-1', head, '--', path])
    if (damage !== 'none') {
      await writeCommitGraph(repository)
      const folder = join(repository, 'objects/info/commit-graphs')
      const graph = join(folder, readdirSync(folder).find(name => name.endsWith('.graph')) ?? '')
      const bytes = readFileSync(graph)
      chmodSync(graph, 0o644)
      if (damage === 'cut') writeFileSync(graph, bytes.subarray(0, 100))
      // Every commit points at a parent far beyond the end, and at a tree that does not exist.
      else writeFileSync(graph, Buffer.concat([bytes.subarray(0, 1300), Buffer.alloc(bytes.length - 1300, 0x6f)]))
    }
    t.equal(await walkToLastChange(repository, head, path), undefined, damage)
    git(repository, ['config', 'core.commitGraph', 'false'])
    t.equal(await lastCommitOfPath(repository, head, path), expected, damage)
    rmSync(repository, { recursive: true })
    await closeGitProcesses(repository)
    forget(repository)
    forgetGraph(repository)
  }
})

t.test('git is asked for a path that is not ASCII', async t => {
  t.equal(pathKeys('with space/ä'), null)
  t.equal(pathKeys('a/b/c')?.length, 3)
})
