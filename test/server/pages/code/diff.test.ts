// The part of a page that shows changes.
import { join } from 'node:path'
import { Eta } from 'eta'
import { root } from '../../../../src/config.js'
import { type DiffPlace, type DiffQuery, diffPart } from '../../../../src/server/pages/code/diff.js'
import { anchorOf, type FilePatch, PAGE } from '../../../../src/text/diff.js'
import t from '../../../helpers/tap.js'

const eta = new Eta({ views: join(root, 'templates/web') })

const patch = (newPath: string, text: string, facts: Partial<FilePatch> = {}): FilePatch => ({
  oldPath: newPath,
  newPath,
  oldMode: '100644',
  newMode: '100644',
  oldId: '',
  newId: '',
  status: 'M',
  text: text && `--- a/x\n+++ b/x\n${text}`,
  isTooLarge: false,
  ...facts
})
const show = async (patches: FilePatch[], query: DiffQuery = {}, place: Partial<DiffPlace> = {}, isCut = false) =>
  eta.render('/code/diff', await diffPart({ patches, isCut }, query, { page: '/g/p/commit/1?', ...place }))

const SMALL = '@@ -1,2 +1,2 @@ f\n same\n-old\n+new\n'
const anchor = anchorOf('a.txt')

t.test('one column, two columns, and links between them', async t => {
  const inline = await show([patch('a.txt', SMALL)])
  t.match(inline, '1 file changed, 1 line added, 1 removed')
  t.match(inline, '/g/p/commit/1?view=parallel')
  t.match(inline, '<tr class="hunk"><td colspan="3">@@ -1,2 +1,2 @@ f</td></tr>')
  t.match(inline, `<tr><td>1</td><td id="${anchor}-R1">1</td><td>same</td></tr>`)
  t.match(inline, `<tr><td id="${anchor}-L2">2</td><td></td><td class="removed">old</td></tr>`)
  t.match(inline, `<tr><td></td><td id="${anchor}-R2">2</td><td class="added">new</td></tr>`)
  const parallel = await show([patch('a.txt', SMALL)], { view: 'parallel' })
  t.match(parallel, '<a href="/g/p/commit/1?">Show in one column')
  t.match(parallel, `<td class="removed">old</td><td id="${anchor}-R2">2</td><td class="added">new</td></tr>`)
})

t.test('names and lines of others are text', async t => {
  const bad = '"><script>alert(1)</script>\n\u202e'
  const html = await show([
    patch(bad, `@@ -1 +1 @@ <img src=x>\n-${'</td>'}\n+<script>x</script>\n`),
    patch(bad, '', { oldPath: '<b>', status: 'R' }),
    patch(bad, `@@ -0,0 +1,999 @@\n${'+x\n'.repeat(999)}`)
  ])
  t.notMatch(html, /<script|<img|<b>|<\/td><\/td>|\u202e/)
  t.match(html, '&lt;script&gt;x&lt;/script&gt;')
  t.match(html, '[U+202E]')
})

t.test('what is not shown is named, with a link where it can be loaded', async t => {
  const html = await show(
    [
      patch('long', `@@ -0,0 +1,${PAGE.fileLines + 1} @@\n${'+x\n'.repeat(PAGE.fileLines + 1)}`),
      patch('huge', '', { isTooLarge: true }),
      patch('a.png', '', { text: 'Binary files a/a.png and b/a.png differ\n' } as Partial<FilePatch>)
    ],
    { view: 'parallel' },
    { fileAt: ({ path }, side) => `/g/p/blob/${side}/${path}` }
  )
  t.match(
    html,
    `<a href="/g/p/commit/1?view=parallel&amp;file=long" data-load="${anchorOf('long')}">Show the changes of long`
  )
  t.match(html, 'The changes of this file are too large to show. <a href="/g/p/blob/new/huge">')
  t.match(html, 'This is a binary file')
  t.match(html, 'These changes are too large')
  t.match(await show([], { file: 'none' }), 'This file did not change here')
  t.match(await show([patch('long', `@@ -0,0 +1,450 @@\n${'+x\n'.repeat(450)}`)], { file: 'long' }), '>450</td>')
  const pages = Array.from({ length: PAGE.files + 2 }, (_, at) => patch(`${at}`, ''))
  t.match(await show(pages), `<a href="/g/p/commit/1?skip=${PAGE.files}">Next files</a> (2 more)`)
})

t.test('long paths are cut, and have no links', async t => {
  const path = '"'.repeat(60_000)
  const html = await show(
    [patch(path, SMALL), patch(`${path}x`, `@@ -0,0 +1,999 @@\n${'+x\n'.repeat(999)}`)],
    {},
    {
      fileAt: ({ path }) => `/g/p/blob/${path}`
    }
  )
  t.match(html, 'The changes of this file are not shown (999 lines)')
  t.notMatch(html, /blob|file=/)
  t.ok(html.length < 30_000, `${html.length} characters`)
})

t.test('notes stand below their line, and line numbers lead to a form', async t => {
  const place: Partial<DiffPlace> = {
    notesOf: file => (file.path === 'a.txt' ? line => (line.new === 2 ? '<p>a note</p>' : '') : null),
    noted: 'all'
  }
  for (const view of ['inline', 'parallel'] as const) {
    const html = await show([patch('a.txt', SMALL), patch('b.txt', SMALL)], { view }, place)
    const columns = view === 'inline' ? 3 : 4
    t.match(html, `<td class="added">new</td></tr><tr class="notes"><td colspan="${columns}"><p>a note</p></td></tr>`)
    t.equal(html.split('a note').length, 2, 'once')
    const start = view === 'parallel' ? '?view=parallel&amp;note=' : '?note='
    t.match(html, `<td id="${anchor}-R2"><a href="${start}${anchor}-R2">2</a></td>`)
  }
  const changed = await show([patch('a.txt', SMALL)], {}, { noted: 'changed' })
  t.match(changed, `<td id="${anchor}-R1">1</td>`, 'a line that stays the same has no form')
  t.match(changed, `<a href="?note=${anchor}-L2">2</a>`)
})
