// The commits of the lines of a file, compared with those that git names.
import { blame } from '../../../src/git/history/blame.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import t from '../../helpers/tap.js'
import { git, repositoryWith } from '../history.js'

t.teardown(() => closeGitProcesses())

t.test('every line has its commit, also before a rename', async t => {
  const repository = await repositoryWith(t)
  const lines = Array.from({ length: 30 }, (_, at) => `line ${at}`)
  const path = '--odd "name"\n'
  let text = ''
  for (let at = 0; at < 6; at++) {
    lines[at * 4] = `changed in ${at}`
    const content = `${lines.join('\n')}\n`
    text += `commit refs/heads/master\ncommitter A <a@example.com> ${1_700_000_000 + at} +0000\ndata ${`${at}`.length}\n${at}\n`
    const name = at < 3 ? 'old' : '"--odd \\"name\\"\\n"'
    if (at === 3) text += 'D old\n'
    text += `M 100644 inline ${name}\ndata ${content.length}\n${content}\n`
  }
  git(repository, ['fast-import', '--quiet'], text)
  const tip = git(repository, ['rev-parse', 'master'])
  const found = await blame(repository, tip, path)
  const expected = git(repository, ['blame', '-l', '--root', '-s', tip, '--', path])
    .split('\n')
    .map(line => line.slice(0, 40))
    .filter(id => /^[0-9a-f]{40}$/.test(id))
  t.same(
    found.flatMap(({ commitId, count }) => Array.from({ length: count }, () => commitId)),
    expected
  )
  t.ok(new Set(expected).size > 5)
  t.same(
    found.map(({ line }) => line),
    found.map((_, at) => 1 + found.slice(0, at).reduce((sum, { count }) => sum + count, 0))
  )
  await t.rejects(blame(repository, '--contents', path), TypeError)
  await t.rejects(blame(repository, tip, 'missing'), { name: 'GitFailure' })
})
