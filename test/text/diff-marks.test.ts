import { shownDiff } from '../../src/text/diff.js'
import { changedParts, markedHtml } from '../../src/text/diff-marks.js'
import t from '../helpers/tap.js'

/** Returns the lines of a change with brackets around what is marked. */
function marked(removed: string[], added: string[]): string[] {
  const text = [
    `@@ -1,${removed.length} +1,${added.length} @@`,
    ...removed.map(line => `-${line}`),
    ...added.map(line => `+${line}`)
  ].join('\n')
  const names = { oldPath: 'a', newPath: 'a', oldMode: '', newMode: '', oldId: '', newId: '', status: 'M' }
  const lines = shownDiff([{ ...names, text, isTooLarge: false }]).files[0]?.hunks[0]?.lines ?? []
  const parts = changedParts(lines)
  return lines.map(line => {
    const { from, to } = parts.get(line) ?? { from: 0, to: 0 }
    return from === to ? line.text : `${line.text.slice(0, from)}[${line.text.slice(from, to)}]${line.text.slice(to)}`
  })
}

t.test('the part between what two lines have in common is marked, in whole words', t => {
  for (const [old, young, ...expected] of [
    ['const value = 1', 'const value = 2', 'const value = [1]', 'const value = [2]'],
    ['call(first)', 'call(first, second)', 'call(first)', 'call(first[, second])'],
    ['return getUsers(id)', 'return getUser(id)', 'return [getUsers](id)', 'return [getUser](id)'],
    ['same words here', 'same word here', 'same [words] here', 'same [word] here'],
    ['aaa', 'aaaaa', '[aaa]', '[aaaaa]'],
    ['smile = 😀!', 'smile = 😁!', 'smile = [😀]!', 'smile = [😁]!'],
    ['end = 𝒶😀', 'end = 𝒷😀', 'end = [𝒶]😀', 'end = [𝒷]😀']
  ] as const) {
    if (expected[0] === '[aaa]')
      t.same(marked([old], [young]), ['aaa', 'aaaaa'], 'nothing in common but parts of a word')
    else t.same(marked([old], [young]), expected)
  }
  t.end()
})

t.test('lines that have little in common, and lines without a counterpart, have no marks', t => {
  t.same(marked(['    if (a) {'], ['    while (running) continue']), ['    if (a) {', '    while (running) continue'])
  t.same(marked(['one two three 1', 'gone'], ['one two three 2']), ['one two three [1]', 'gone', 'one two three [2]'])
  t.same(marked([''], ['new']), ['', 'new'])
  t.end()
})

t.test('marks stand inside of elements, and around whole signs', t => {
  const html = '<span class="hljs-keyword">const</span> a = &lt;b&gt;'
  t.equal(
    markedHtml(html, { from: 3, to: 11 }),
    '<span class="hljs-keyword">con<mark>st</mark></span><mark> a = </mark><mark>&lt;</mark>b&gt;'
  )
  t.equal(markedHtml('plain', { from: 0, to: 5 }), '<mark>plain</mark>')
  t.equal(markedHtml('&amp;&amp;', { from: 1, to: 2 }), '&amp;<mark>&amp;</mark>')
  t.end()
})
