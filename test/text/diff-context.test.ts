import { type Hunk, shownDiff, WHOLE_FILE } from '../../src/text/diff.js'
import { widened } from '../../src/text/diff-context.js'
import { excerptsOf } from '../../src/text/diff-excerpts.js'
import t from '../helpers/tap.js'

const names = { oldPath: 'a', newPath: 'a', oldMode: '', newMode: '', oldId: '', newId: '', status: 'M' }
const hunksOf = (text: string) => shownDiff([{ ...names, text, isTooLarge: false }]).files[0]?.hunks ?? []
const shown = (hunks: readonly Hunk[]) =>
  hunks.map(({ heading, lines }) => [heading, ...lines.map(line => `${line.old ?? ''} ${line.new ?? ''} ${line.text}`)])

/** The new file has 20 lines: one more than the old one. */
const LINES = Array.from({ length: 20 }, (_, at) => `line ${at + 1}`)
const TEXT = `@@ -4,2 +4,3 @@ words
 line 4
+line 5
 line 6
@@ -14,3 +15,3 @@
 line 15
-old 16
+line 16
 line 17
`

t.test('more lines stand around each change, with the numbers of both files', t => {
  t.same(shown(widened(hunksOf(TEXT), LINES, 2)), [
    [
      '@@ -2,6 +2,7 @@ words',
      ...['2 2 line 2', '3 3 line 3', '4 4 line 4', ' 5 line 5', '5 6 line 6', '6 7 line 7', '7 8 line 8']
    ],
    [
      '@@ -12,7 +13,7 @@',
      ...['12 13 line 13', '13 14 line 14', '14 15 line 15', '15  old 16', ' 16 line 16', '16 17 line 17'],
      ...['17 18 line 18', '18 19 line 19']
    ]
  ])
  const lines = widened(hunksOf(TEXT), LINES, 2)[0]?.lines ?? []
  t.same(
    lines.map(({ isAround }) => isAround === true),
    [true, true, false, false, false, true, true]
  )
  t.end()
})

t.test('changes that meet become one, up to the ends of the file', t => {
  const [all, ...others] = widened(hunksOf(TEXT), LINES, 5000)
  t.same(others, [])
  t.equal(all?.heading, '@@ -1,19 +1,20 @@ words')
  t.same(
    all?.lines.flatMap(line => line.new ?? []),
    LINES.map((_, at) => at + 1)
  )
  t.equal(widened(hunksOf(TEXT), LINES, 4).length, 1, 'eight lines are between them')
  t.equal(widened(hunksOf(TEXT), LINES, 3).length, 2)
  t.end()
})

t.test('what was empty before or after has no other lines', t => {
  const hunks = hunksOf('@@ -1,2 +0,0 @@\n-a\n-b\n')
  t.same(widened(hunks, [], 20), hunks)
  t.end()
})

t.test('the limits of a page hold, and no line is missing inside of a part', t => {
  const many = Array.from({ length: 20_000 }, (_, at) => `line ${at + 1}`)
  const text = '@@ -10000,1 +10000,1 @@\n-x\n+line 10000\n@@ -15000,1 +15000,1 @@\n-x\n+line 15000\n'
  for (const lines of [many, many.map(line => line.padEnd(3000, 'x'))]) {
    const hunks = widened(hunksOf(text), lines, 5000)
    const all = hunks.flatMap(hunk => hunk.lines)
    t.ok(all.length <= WHOLE_FILE.lines)
    t.ok(all.reduce((sum, line) => sum + line.text.length, 0) <= WHOLE_FILE.text)
    for (const hunk of hunks) {
      const numbers = hunk.lines.flatMap(line => line.new ?? [])
      t.same(
        numbers,
        numbers.map((_, at) => (numbers[0] ?? 0) + at)
      )
    }
  }
  t.end()
})

t.test('the lines that notes are about are cut out of a change', t => {
  const text = (places: { side: 'old' | 'new'; number: number }[]) =>
    excerptsOf(TEXT, places).map(lines => lines.map(line => `${line.kind} ${line.text}`))
  t.same(
    text([
      { side: 'new', number: 16 },
      { side: 'old', number: 15 },
      { side: 'new', number: 4 },
      { side: 'new', number: 6 },
      { side: 'new', number: 99 },
      { side: 'old', number: 4 }
    ]),
    [
      ['same line 15', 'removed old 16', 'added line 16'],
      ['same line 15', 'removed old 16'],
      ['same line 4'],
      ['same line 4', 'added line 5', 'same line 6'],
      [],
      []
    ]
  )
  t.end()
})
