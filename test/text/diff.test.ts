import { type FilePatch, PAGE, shownDiff, sideBySide, WHOLE_FILE } from '../../src/text/diff.js'
import t from '../helpers/tap.js'

const patch = (text: string, facts: Partial<FilePatch> = {}): FilePatch => ({
  oldPath: facts.newPath ?? 'a.txt',
  newPath: 'a.txt',
  oldMode: '100644',
  newMode: '100644',
  oldId: '',
  newId: '',
  status: 'M',
  text,
  isTooLarge: false,
  ...facts
})
const NAMES = '--- a/a.txt\n+++ b/a.txt\n'
const only = (text: string, facts: Partial<FilePatch> = {}) => shownDiff([patch(text, facts)]).files[0]
const many = (count: number) => `${NAMES}@@ -0,0 +1,${count} @@\n${'+line\n'.repeat(count)}`

t.test('lines have the numbers of both files', async t => {
  const text = `${NAMES}@@ -3,4 +3,5 @@ function f () {\n one\n-two\n+2\n+2a\n three\n four\n@@ -90 +91 @@\n-x\n+y\n`
  const file = only(text)
  t.match(file, { added: 3, removed: 2, fold: null, change: 'changed', name: 'a.txt', cutLines: 0 })
  t.same(
    file?.hunks.map(({ heading, lines }) => [heading, ...lines.map(line => [line.old, line.new, line.text])]),
    [
      [
        '@@ -3,4 +3,5 @@ function f () {',
        [3, 3, 'one'],
        [4, null, 'two'],
        [null, 4, '2'],
        [null, 5, '2a'],
        [5, 6, 'three'],
        [6, 7, 'four']
      ],
      ['@@ -90 +91 @@', [90, null, 'x'], [null, 91, 'y']]
    ]
  )
})

t.test('a removed line that looks like a heading or a name is a line', async t => {
  const file = only(`${NAMES}@@ -1,2 +1,2 @@\n--- a/x\n-@@ -1 +1 @@\n+++ b/y\n+z\n`)
  t.same(
    file?.hunks.map(({ lines }) => lines.map(({ kind, text }) => `${kind} ${text}`)),
    [['removed -- a/x', 'removed @@ -1 +1 @@', 'added ++ b/y', 'added z']]
  )
})

t.test('a missing line end, a file that became a link, a binary file, a rename, a new mode', async t => {
  const [first] = only(`${NAMES}@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n`)?.hunks ?? []
  t.same(
    first?.lines.map(({ isUnended }) => isUnended),
    [true, false]
  )
  const both = `--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+target\n`
  t.match(only(both, { status: 'T' }), {
    added: 1,
    removed: 1,
    hunks: [{ lines: [{ old: 1 }] }, { lines: [{ new: 1 }] }]
  })
  t.match(only('Binary files a/a.png and b/a.png differ\n'), { isBinary: true, hunks: [], fold: null })
  t.match(only('', { status: 'R', oldPath: 'old\n.txt' }), { change: 'renamed', oldName: 'old␊.txt', hunks: [] })
  t.match(only('', { newMode: '100755' }), { oldMode: '100644', newMode: '100755' })
})

t.test('characters that hide something can be seen', async t => {
  const [hunk] = only(`${NAMES}@@ -0,0 +1,2 @@\n+a\u202eb\u0000c\u001b[31m\td\r\n+<script>\n`)?.hunks ?? []
  t.same(
    hunk?.lines.map(({ text }) => text),
    ['a[U+202E]b␀c␛[31m\td', '<script>']
  )
})

t.test('large files are folded, and the rest of a full page', async t => {
  const long = patch(many(PAGE.fileLines + 1), { newPath: 'long' })
  const wide = patch(`${NAMES}@@ -0,0 +1 @@\n+${'x'.repeat(PAGE.fileText)}\n`, { newPath: 'wide' })
  const omitted = patch('', { newPath: 'omitted', isTooLarge: true })
  const full = Array.from({ length: 7 }, (_, at) => patch(many(PAGE.fileLines), { newPath: `${at}` }))
  const diff = shownDiff([long, wide, omitted, ...full])
  t.same(
    diff.files.map(({ fold }) => fold),
    ['long', 'long', 'omitted', null, null, null, null, null, 'page', 'page']
  )
  t.match(diff, { isCut: true, total: 10, added: PAGE.fileLines * 8 + 2, removed: 0, next: null })
  t.equal(diff.files[0]?.hunks.length, 0)
})

t.test('one file is shown whole, up to its own limits', async t => {
  const patches = [patch(many(3)), patch(many(WHOLE_FILE.fileLines + 5), { newPath: 'long' })]
  const { files } = shownDiff(patches, { only: 'long' })
  t.match(files, [{ path: 'long', fold: null, cutLines: 5 }])
  t.equal(files[0]?.hunks[0]?.lines.length, WHOLE_FILE.fileLines)
  t.same(shownDiff(patches, { only: 'none' }).files, [])
  const [line] = only(`${NAMES}@@ -0,0 +1 @@\n+${'x'.repeat(1500)}\n`)?.hunks[0]?.lines ?? []
  t.match(line, { text: 'x'.repeat(1000), cut: 500 })
})

t.test('many files come in pages', async t => {
  const patches = Array.from({ length: PAGE.files + 1 }, (_, at) => patch('', { newPath: `${at}` }))
  const first = shownDiff(patches)
  t.match([first.files.length, first.next, first.total], [PAGE.files, PAGE.files, PAGE.files + 1])
  const second = shownDiff(patches, { skip: PAGE.files })
  t.match(second, { files: [{ path: `${PAGE.files}` }], next: null, total: PAGE.files + 1 })
})

t.test('two columns show removed lines next to the added ones', async t => {
  const file = only(`${NAMES}@@ -1,4 +1,4 @@\n+new\n same\n-a\n-b\n+A\n end\n`)
  t.same(
    sideBySide(file?.hunks[0]?.lines ?? []).map(({ left, right }) => [left?.text ?? null, right?.text ?? null]),
    [
      [null, 'new'],
      ['same', 'same'],
      ['a', 'A'],
      ['b', null],
      ['end', 'end']
    ]
  )
})
