// How far branches are ahead and behind, compared with what git counts.
import { distances } from '../../../src/git/history/ahead-behind.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import t from '../../helpers/tap.js'
import { git, repositoryWith } from '../history.js'

t.teardown(() => closeGitProcesses())

/** Makes commits whose parents look random. Returns their ids. */
async function history(count: number, step: (at: number) => number) {
  const repository = await repositoryWith(t)
  let [text, date, state] = ['', 1_700_000_000, count]
  const next = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
  for (let at = 1; at <= count; at++) {
    date += step(at)
    const parents = new Set(Array.from({ length: Math.min(at - 1, 1 + next(3)) }, () => Math.max(1, at - 1 - next(8))))
    const [first, ...others] = [...parents]
    text += `reset refs/heads/made\n\ncommit refs/heads/made\nmark :${at}\ncommitter A <a@example.com> ${date} +0000\ndata 1\n1\n`
    if (first) text += `from :${first}\n`
    text += `${others.map(other => `merge :${other}\n`).join('')}M 100644 inline f\ndata ${String(at).length}\n${at}\n\n`
    text += `reset refs/heads/at-${at}\nfrom :${at}\n\n`
  }
  git(repository, ['fast-import', '--quiet', '--force'], text)
  const ids = Array.from({ length: count }, (_, at) => git(repository, ['rev-parse', `at-${at + 1}`]))
  return { repository, ids }
}

t.test('random histories, also with equal and with wrong dates', async t => {
  for (const step of [() => 60, (at: number) => at % 2, (at: number) => (at % 9 === 0 ? -200 : 60)]) {
    const { repository, ids } = await history(60, step)
    for (const base of [ids[59] ?? '', ids[30] ?? '']) {
      const tips = ids.filter((_, at) => at % 3 === 0)
      const found = await distances(repository, base, tips)
      for (const tip of tips) {
        const [behind, ahead] = git(repository, ['rev-list', '--left-right', '--count', `${base}...${tip}`]).split('\t')
        t.same(found?.get(tip), { ahead: Number(ahead), behind: Number(behind) })
      }
    }
  }
})

t.test('a history that is too long has no answer', async t => {
  const repository = await repositoryWith(t, 2500)
  const [tip = '', root = ''] = [
    git(repository, ['rev-parse', 'master']),
    git(repository, ['rev-list', '--max-parents=0', 'master'])
  ]
  t.equal(await distances(repository, tip, [root]), null)
  t.same([...((await distances(repository, tip, [tip, tip])) ?? [])], [[tip, { ahead: 0, behind: 0 }]])
  await t.rejects(() => Promise.resolve().then(() => distances(repository, tip, ['--all'])), TypeError)
})
