// The search in the files of a commit.
import { grep } from '../../../src/git/objects/grep.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import t from '../../helpers/tap.js'
import { git, repositoryWith } from '../history.js'

t.teardown(() => closeGitProcesses())

const repository = await repositoryWith(t)
const files: Record<string, string | Buffer> = {
  'a.txt': 'nothing\nHere is Needle\n',
  '"odd\\n\\"name\\"\\303\\244"': 'needle\n',
  binary: Buffer.from('needle\0needle\n'),
  long: `${'ä'.repeat(2000)}needle${'x'.repeat(2000)}\nlast needle`,
  many: 'many times\n'.repeat(1000),
  pattern: '.*[a-z]+ -e --open-files-in-pager=touch\n'
}
const head = 'commit refs/heads/master\ncommitter A <a@example.com> 1700000000 +0000\ndata 1\nx\n'
const parts = Object.entries(files).flatMap(([name, content]) => [
  `M 100644 inline ${name}\ndata ${Buffer.byteLength(content)}\n`,
  content,
  '\n'
])
const folders = Array.from(
  { length: 40 },
  (_, at) => `M 100644 inline dir/${at}\ndata 220\n${'many times\n'.repeat(20)}\n`
)
git(repository, ['fast-import', '--quiet'], Buffer.concat([head, ...parts, ...folders].map(part => Buffer.from(part))))
const commitId = git(repository, ['rev-parse', 'master'])
const find = (text: string) => grep(repository, { commitId, text, client: 'somebody' })

t.test('lines with the text, in any case, without binary files', async t => {
  const { lines, cut } = await find('nEEdle')
  t.equal(cut, null)
  t.same(
    lines.map(({ path, line }) => `${path} ${line}`),
    ['a.txt 2', 'long 1', 'long 2', 'odd\n"name"ä 1']
  )
  const [, long] = lines
  t.match(long, { isCutBefore: true, isCutAfter: true })
  t.match(long?.text ?? '', /^ä{30}needlex+$/)
  t.match(lines[0], { text: 'Here is Needle', isCutBefore: false, isCutAfter: false })
  t.equal((await find('needle')).lines.length, 4)
})

t.test('a text is never a pattern or an option', async t => {
  t.match((await find('.*[a-z]+')).lines, [{ path: 'pattern', line: 1 }])
  t.match((await find('--open-files-in-pager=touch')).lines, [{ path: 'pattern' }])
  for (const text of ['-e', '-O', '--', '(', '\\', ' '.repeat(3)]) t.equal((await find(text)).cut, null, text)
  for (const text of ['a\nb', 'a\0b', '']) t.same(await find(text), { lines: [], cut: null })
  await t.rejects(grep(repository, { commitId: 'HEAD', text: 'x' }), TypeError)
})

t.test('many results are cut, in each file and in all', async t => {
  const { lines, cut } = await find('many times')
  t.equal(cut, 'results')
  t.equal(lines.length, 500)
  t.equal(lines.filter(({ path }) => path === 'many').length, 0, 'the order is that of the paths')
  t.equal(lines.filter(({ path }) => path === 'dir/3').length, 20)
})
