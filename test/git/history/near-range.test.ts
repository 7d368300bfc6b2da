// The commits between two others, compared with those that git lists.
import { nearRange } from '../../../src/git/history/near-range.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import t, { type Test } from '../../helpers/tap.js'
import { git, repositoryWith } from '../history.js'

t.teardown(() => closeGitProcesses())

/** Numbers that look random, and are the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
}

/** Makes commits with up to three parents among the ones before, in steps of `step` seconds. Returns their ids. */
async function history(t: Test, count: number, step: (at: number) => number) {
  const repository = await repositoryWith(t)
  const next = numbers(count)
  let text = ''
  let date = 1_700_000_000
  for (let at = 1; at <= count; at++) {
    date += step(at)
    const parents = Array.from({ length: Math.min(at - 1, 1 + next(3)) }, () => Math.max(1, at - 1 - next(6)))
    const [first, ...others] = [...new Set(parents)]
    text += `reset refs/heads/made\n\ncommit refs/heads/made\nmark :${at}\ncommitter A <a@example.com> ${date} +0000\ndata 1\n${at % 10}\n`
    if (first) text += `from :${first}\n`
    text += `${others.map(other => `merge :${other}\n`).join('')}M 100644 inline f\ndata ${String(at).length}\n${at}\n\n`
    text += `reset refs/heads/at-${at}\nfrom :${at}\n\n`
  }
  git(repository, ['fast-import', '--quiet', '--force'], text)
  const ids = Array.from({ length: count }, (_, at) => git(repository, ['rev-parse', `at-${at + 1}`]))
  return { repository, ids, next }
}

const listed = (repository: string, before: string | null, after: string) =>
  git(repository, ['rev-list', after, ...(before === null ? [] : [`^${before}`])])
    .split('\n')
    .filter(Boolean)

t.test('ranges have the commits of git in its order, also of merges and of equally new commits', async t => {
  for (const step of [() => 60, (at: number) => (at % 3 === 0 ? 1 : 0)]) {
    const { repository, ids, next } = await history(t, 40, step)
    const one = () => ids[next(ids.length)] ?? ''
    for (let tries = 0; tries < 60; tries++) {
      const [before, after] = [tries % 10 === 0 ? null : one(), one()]
      t.same(await nearRange(repository, before, after), listed(repository, before, after), `${before} ${after}`)
    }
  }
})

t.test('git lists distant commits, and commits that are older than their parents', async t => {
  const { repository, ids } = await history(t, 40, at => (at === 30 ? -10_000 : 60))
  t.equal(await nearRange(repository, ids[10] ?? '', ids[39] ?? ''), undefined)
  t.equal(await nearRange(repository, ids[29] ?? '', ids[28] ?? ''), undefined, 'from a child to its newer parent')
  const long = await repositoryWith(t, 300)
  const [tip = '', root = ''] = git(long, ['rev-list', '--first-parent', 'master'])
    .split('\n')
    .filter((_, at, all) => [0, all.length - 1].includes(at))
  t.equal(await nearRange(long, null, tip), undefined)
  t.equal(await nearRange(long, root, tip), undefined)
  t.equal(await nearRange(long, 'a'.repeat(40), tip), undefined, 'a commit that does not exist')
})
