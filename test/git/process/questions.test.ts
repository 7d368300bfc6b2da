// Questions that keep git busy for minutes, with real git and lower limits.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { askGit, oneAtATime } from '../../../src/git/process/questions.js'
import { GitLimit, runGit } from '../../../src/git/process/run.js'
import { slotCounts } from '../../../src/git/process/slots.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import t from '../../helpers/tap.js'
import { git, repositoryWith } from '../history.js'

t.teardown(() => closeGitProcesses())

/** Creates two commits with so many common parents that git looks for the best one for ten seconds. */
function manyParents(repository: string): [string, string] {
  const person = (at: number) => `author A <a@example.com> ${at} +0000\ncommitter A <a@example.com> ${at} +0000\n\nx\n`
  const stream = Array.from({ length: 25_000 }, (_, at) => {
    const committer = `committer A <a@example.com> ${at + 1} +0000\ndata 1\nx\n`
    return `reset refs/heads/parent\ncommit refs/heads/parent\nmark :${at + 1}\n${committer}`
  })
  git(repository, ['fast-import', '--quiet', '--export-marks=marks'], stream.join(''))
  const parents = readFileSync(join(repository, 'marks'), 'utf8').match(/[0-9a-f]{40}/g) ?? []
  const tree = git(repository, ['rev-parse', 'parent^{tree}'])
  const commit = (at: number) => {
    const content = `tree ${tree}\n${parents.map(id => `parent ${id}\n`).join('')}${person(at)}`
    return git(repository, ['hash-object', '-t', 'commit', '-w', '--stdin'], content)
  }
  return [commit(1), commit(2)]
}

t.test('a question that takes too long is refused, and not repeated', async t => {
  const repository = await repositoryWith(t)
  const [one, other] = manyParents(repository)
  const ask = () => askGit(repository, ['merge-base', one, other], 3).catch(error => error)
  const first = await ask()
  t.type(first, GitLimit)
  t.match(first, { message: 'git needs more than 3 s of processor time', isOfTime: true })
  await t.rejects(runGit(['merge-base', one, other], { repository, timeout: 0.2 }), { name: 'GitTimeout' })
  t.equal(slotCounts().running, 0)
  const again = ask()
  t.equal(slotCounts().running, 0, 'no process is started')
  t.equal(await again, first)
  t.match(String(await askGit(repository, ['merge-base', one, one], 1)), one, 'other questions still work')
})

t.test(
  'long questions run one at a time, and other repositories come before more questions about the same one',
  async t => {
    const began: string[] = []
    const ends: (() => void)[] = []
    const ask = (repository: string, question: string) =>
      oneAtATime(repository, question, () => {
        began.push(question)
        return new Promise<void>(resolve => ends.push(resolve))
      })
    const all = [ask('a', 'a1'), ask('a', 'a2'), ask('a', 'a3'), ask('b', 'b1')]
    t.same(began, ['a1'])
    for (const index of all.keys()) {
      while (ends.length <= index) await new Promise(resolve => setImmediate(resolve))
      ends[index]?.()
    }
    await Promise.all(all)
    t.same(began, ['a1', 'b1', 'a2', 'a3'])
  }
)
