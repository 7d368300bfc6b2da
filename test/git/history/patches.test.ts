// Compares changes with those that git prints.
import { PatchReader, type PatchSet } from '../../../src/git/history/patch-reader.js'
import { PATCH_LIMITS, patchesBetween, patchesOf } from '../../../src/git/history/patches.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import t from '../../helpers/tap.js'
import { git, repositoryWith } from '../history.js'

t.teardown(() => closeGitProcesses())

const repository = await repositoryWith(t, 120)
const ask = (...args: string[]) => git(repository, args)

/** Returns git's changes of one commit, or between two commits, as a list like ours. */
function expected(commits: string[]): object[] {
  const options = ['-c', 'core.quotePath=false', 'diff-tree', '-r', '-M', '--root', '--no-commit-id']
  const raw = ask(...options, '-z', '--raw', ...commits)
    .replaceAll('\ufffd', '\\377')
    .split('\0')
    .filter(Boolean)
  const list: Record<'status' | 'oldPath' | 'newPath' | 'oldMode' | 'newMode' | 'oldId' | 'newId', string>[] = []
  while (raw.length > 0) {
    const [oldMode = '', newMode = '', oldId = '', newId = '', letters = ''] = (raw.shift() ?? '').slice(1).split(' ')
    const oldPath = raw.shift() ?? ''
    const newPath = /^[RC]/.test(letters) ? (raw.shift() ?? '') : oldPath
    const shown = (mode: string) => (mode === '000000' ? '0' : mode)
    const modes = { oldMode: shown(oldMode), newMode: shown(newMode) }
    list.push({ status: letters.slice(0, 1), oldPath, newPath, ...modes, oldId, newId })
  }
  const sections = `\n${ask(...options, '-p', ...commits)}`.split('\ndiff --git ').slice(1)
  const body = () => {
    const lines = (sections.shift() ?? '').split('\n')
    const from = lines.findIndex(line => /^(--- |Binary files )/.test(line))
    return from === -1 ? '' : `${lines.slice(from).join('\n').trimEnd()}\n`
  }
  const within = (text: string) => (text.length > PATCH_LIMITS.text ? '' : text)
  return list.map(entry => ({ ...entry, text: within(entry.status === 'T' ? body() + body() : body()) }))
}

const shown = (found: PatchSet | null) =>
  found?.patches.map(({ isTooLarge: _, text, ...entry }) => ({
    ...entry,
    text: text === '' ? '' : `${text.trimEnd()}\n`
  }))

t.test('each commit of a history with merges, renames and odd names', async t => {
  const all = ask('rev-list', 'master').split('\n')
  for (const id of [...all.slice(0, 12), ...all.filter((_, at) => at % 10 === 3), ...all.slice(-1)]) {
    const found = await patchesOf(repository, id)
    const [parent] = ask('rev-list', '-1', '--parents', id).split(' ').slice(1)
    t.same(shown(found), expected(parent ? [parent, id] : [id]), id)
    t.equal(found?.isCut, false)
    const left = found?.patches.filter(({ isTooLarge }) => isTooLarge).map(({ newPath }) => newPath)
    t.same(left, id === all[0] ? ['big.bin'] : [])
  }
  t.equal(await patchesOf(repository, 'a'.repeat(40)), null)
})

t.test('two commits, in both directions', async t => {
  const ids = ask('rev-list', 'master').split('\n')
  const at = (place: number) => ids[place] ?? ''
  const pairs: [string, string][] = [
    [at(100), at(0)],
    [at(0), at(100)],
    [at(3), at(3)],
    [at(50), at(7)]
  ]
  for (const [from, to] of pairs) {
    t.same(shown(await patchesBetween(repository, from, to)), expected([from, to]))
  }
})

t.test('files that change their type, empty files, modes, and content that looks like a border', async t => {
  const person = 'committer A <a@b> 1700000000 +0000'
  const text = (value: string) => `data ${Buffer.byteLength(value)}\n${value}\n`
  const first = `commit refs/heads/kinds\n${person}\n${text('1')}M 100644 inline a\n${text('text\n')}M 120000 inline b\n${text('a')}M 100644 inline m\n${text('x\n')}M 160000 ${'b'.repeat(40)} s\nM 100644 inline " --- a"\n${text('one\n')}\n`
  const tricky = 'x\ndiff --git a/a b/a\n--- a/a\nBinary files \n'
  const second = `commit refs/heads/kinds\n${person}\n${text('2')}M 120000 inline a\n${text('m')}M 100644 inline b\n${text('now text\n')}M 100755 inline m\n${text('x\n')}M 100644 inline s\n${text('was a module')}M 100644 inline empty\n${text('')}M 100644 inline t\n${text(tricky)}M 100644 inline " --- a"\n${text(tricky)}\n`
  git(repository, ['fast-import', '--quiet'], first + second)
  const [to = '', from = ''] = ask('rev-list', 'kinds').split('\n')
  t.same(shown(await patchesOf(repository, to)), expected([from, to]))
  t.same(shown(await patchesOf(repository, from)), expected([from]))
})

t.test('an answer may arrive in any parts', async t => {
  const options = ['-c', 'core.quotePath=false', 'diff-tree', '-r', '-M', '--root', '--raw', '-p', '-z']
  const [to = '', from = ''] = [ask('rev-parse', 'master~1'), ask('rev-parse', 'master~30')]
  const whole = Buffer.from(`${ask(...options, from, to)}\n`)
  const read = (step: number) => {
    const reader = new PatchReader({ files: 10, paths: 1000, text: 1000, texts: 3000 })
    let wants = true
    for (let at = 0; at < whole.length && wants; at += step) wants = reader.take(whole.subarray(at, at + step))
    return reader.end(wants)
  }
  const once = read(whole.length)
  t.equal(once.patches.length, 10)
  t.equal(once.isCut, true)
  for (const step of [1, 2, 3, 7, 11, 12, 13, 100, 1000]) t.same(read(step), once, `${step} bytes at once`)
})

t.test('a large commit: large texts are omitted, the list of files is cut, and both are marked', async t => {
  const line = 'a line of a long file\n'
  const person = 'committer A <a@b> 1700000000 +0000'
  const files = Array.from({ length: PATCH_LIMITS.files + 5 }, (_, at) => `M 100644 inline many/${at}\ndata 2\n1\n`)
  const large = line.repeat(40_000)
  const commit = (branch: string, changes: string) =>
    git(repository, ['fast-import', '--quiet'], `commit refs/heads/${branch}\n${person}\ndata 1\nx\n${changes}\n`)
  commit(
    'large',
    `M 100644 inline a\ndata ${large.length}\n${large}\nM 100644 inline b\ndata 2\nb\nM 100644 inline c\ndata ${large.length}\n${large}\n`
  )
  const found = await patchesOf(repository, ask('rev-parse', 'large'))
  t.same(
    found?.patches.map(({ newPath, isTooLarge, text }) => [newPath, isTooLarge, text.split('\n').length]),
    [
      ['a', true, 1],
      ['b', false, 5],
      ['c', true, 1]
    ]
  )
  t.equal(found?.isCut, false)
  commit('wide', files.join(''))
  const wide = await patchesOf(repository, ask('rev-parse', 'wide'))
  t.equal(wide?.patches.length, PATCH_LIMITS.files)
  t.equal(wide?.isCut, true)
  t.ok(wide?.patches.every(({ text }) => text.endsWith('+1\n')))
})

t.test('the list of files ends when their paths are too long together', async t => {
  const name = (at: number) => `${at}`.padStart(60_000, 'n')
  const changes = Array.from({ length: 30 }, (_, at) => `M 100644 inline ${name(at)}\ndata 2\n1\n\n`).join('')
  const head = 'commit refs/heads/paths\ncommitter A <a@b> 1700000000 +0000\ndata 1\nx\n'
  git(repository, ['fast-import', '--quiet'], `${head}${changes}\n`)
  const found = await patchesOf(repository, ask('rev-parse', 'paths'))
  t.equal(found?.isCut, true)
  t.same(
    found?.patches.map(({ newPath }) => newPath).sort(),
    Array.from({ length: 30 }, (_, at) => name(at))
      .sort()
      .slice(0, 18)
  )
  t.ok(found?.patches.every(({ text, isTooLarge }) => !isTooLarge && text.endsWith('+1\n')))
})
