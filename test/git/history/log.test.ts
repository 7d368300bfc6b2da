// Compares lists of commits with those of git, with and without a commit-graph.

import { forgetGraph } from '../../../src/git/history/commit-graph.js'
import { listCommits } from '../../../src/git/history/log.js'
import { forget } from '../../../src/git/objects/cache.js'
import { writeCommitGraph } from '../../../src/git/repository/maintenance.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import t, { type Test } from '../../helpers/tap.js'
import { git, repositoryWith } from '../history.js'

t.teardown(() => closeGitProcesses())

const STEPS = [0, 50, -900, 0, 4000, 0, 7]

/** Merges, and commits whose dates go back, jump ahead, and are equal. */
function crooked(repository: string, count: number): void {
  const parts: string[] = []
  for (let at = 1; at <= count; at++) {
    const date = 1_700_000_000 + (STEPS[at % 7] ?? 0) * 10 + Math.floor(at / 20) * 60
    parts.push(`commit refs/heads/crooked\nmark :${at}\ncommitter A <a@b> ${date} +0000\ndata 2\nx\n`)
    if (at > 6) parts.push(`from :${at % 3 === 0 ? at - 4 : at - 1}\n`)
    if (at > 20 && at % 3 === 0) parts.push(`merge :${at - 1}\n`)
    if (at > 40 && at % 15 === 0) parts.push(`merge :${at - 17}\nmerge :${at - 9}\n`)
    parts.push(`M 100644 inline a/${at % 9}\ndata 2\n${at % 10}\n\n`)
  }
  git(repository, ['fast-import', '--quiet'], parts.join(''))
}

async function compare(t: Test, repository: string, ref: string): Promise<void> {
  const tip = git(repository, ['rev-parse', ref])
  const all = git(repository, ['rev-list', tip]).split('\n')
  const places: [number, number][] = [
    [0, 20],
    [20, 20],
    [1, 1],
    [100, 100],
    [0, 5000],
    [all.length - 1, 5],
    [all.length, 5]
  ]
  for (const [skip, count] of places) {
    forget(repository)
    const found = await listCommits(repository, { tip, skip, count })
    t.same(found, all.slice(skip, skip + count), `${ref} from ${skip}, ${count} commits`)
  }
  const middle = Number(git(repository, ['show', '-s', '--format=%ct', all[all.length >> 1] ?? '']))
  for (const question of [{ until: middle }, { since: middle }, { since: middle, until: middle + 3600 }]) {
    const args = [
      ...('since' in question ? [`--max-age=${question.since}`] : []),
      ...('until' in question ? [`--min-age=${question.until}`] : [])
    ]
    const expected = git(repository, ['rev-list', ...args, tip])
      .split('\n')
      .filter(Boolean)
    t.same(await listCommits(repository, { tip, skip: 0, count: 10_000, ...question }), expected, args.join(' '))
    t.same(await listCommits(repository, { tip, skip: 2, count: 3, ...question }), expected.slice(2, 5))
  }
}

t.test('the order is that of git: without a graph, with one, and with commits newer than it', async t => {
  const repository = await repositoryWith(t, 300)
  crooked(repository, 400)
  for (const ref of ['master', 'crooked', 'side']) await compare(t, repository, ref)
  await writeCommitGraph(repository)
  forgetGraph(repository)
  for (const ref of ['master', 'crooked', 'side']) await compare(t, repository, ref)
  const person = 'committer A <a@b>'
  const onTop = ['1700000100', '1600000000', '1900000000', '1900000000'].map(
    (date, at) =>
      `commit refs/heads/crooked\n${person} ${date} +0000\ndata 2\ny\n${at === 0 ? 'from refs/heads/crooked^0\n' : ''}\n`
  )
  const merge = `commit refs/heads/crooked\n${person} 1900000000 +0000\ndata 2\nz\nmerge refs/heads/side\n\n`
  git(repository, ['fast-import', '--quiet'], `${onTop.join('')}${merge}`)
  await compare(t, repository, 'crooked')
})

t.test('a long history without a graph is read by git', async t => {
  const repository = await repositoryWith(t, 1300)
  const tip = git(repository, ['rev-parse', 'master'])
  const all = git(repository, ['rev-list', tip]).split('\n')
  t.same(await listCommits(repository, { tip, skip: 990, count: 20 }), all.slice(990, 1010))
  t.same(await listCommits(repository, { tip, skip: 1200, count: 20 }), all.slice(1200, 1220))
  t.same(await listCommits(repository, { tip, skip: 0, count: 1010 }), all.slice(0, 1010))
})

t.test('commits of a path are those that git lists', async t => {
  const repository = await repositoryWith(t, 300)
  const tip = git(repository, ['rev-parse', 'master'])
  for (const withGraph of [false, true]) {
    if (withGraph) await writeCommitGraph(repository)
    forgetGraph(repository)
    forget(repository)
    for (const path of ['lib', 'lib/part-3', 'lib/part-3/file-3.txt', 'side', 'module', 'link', 'nothing', '*', '-x']) {
      const expected = git(repository, ['--literal-pathspecs', 'rev-list', tip, '--', path]).split('\n').filter(Boolean)
      t.same(await listCommits(repository, { tip, skip: 0, count: 1000, path }), expected, path)
      t.same(await listCommits(repository, { tip, skip: 0, count: 1, path }), expected.slice(0, 1), path)
      t.same(await listCommits(repository, { tip, skip: 1, count: 2, path }), expected.slice(1, 3), path)
    }
  }
})

t.test('several callers of one history get their own pages', async t => {
  const repository = await repositoryWith(t, 200)
  await writeCommitGraph(repository)
  const tip = git(repository, ['rev-parse', 'master'])
  const all = git(repository, ['rev-list', tip]).split('\n')
  const pages = await Promise.all(
    [8, 0, 3, 1, 9].map(page => listCommits(repository, { tip, skip: page * 20, count: 20 }))
  )
  t.same(
    pages,
    [8, 0, 3, 1, 9].map(page => all.slice(page * 20, page * 20 + 20))
  )
  t.same(await listCommits(repository, { tip, skip: 30, count: 5000 }), all.slice(30), 'a later call continues')
})
