// Changes with colours, marks and more context, on the pages that show them.

import t from 'tap'
import { execute } from '../../../../src/db/connect/sql.js'
import { until } from '../../../helpers/until.js'
import { codePages, commitOf } from './repository.js'

const { app, make, signedIn, nobody } = await codePages(t)

/** Opens a page again until all of its files have colours: a slow machine shows those that take too long without them. */
const coloured = (browser: typeof nobody, path: string) =>
  until(`the colours of ${path}`, async () => {
    const page = await browser.get(path)
    return page.body.includes('because this page takes too long') ? null : page
  })

const LINES = Array.from({ length: 60 }, (_, at) => `export const value${at + 1} = ${at + 1}`)
const BEFORE = ['/*', ...LINES.slice(0, 29), '*/', ...LINES.slice(29)]
const withLine = (at: number, line: string) => BEFORE.map((old, index) => (index === at - 1 ? line : old))
const textOf = (lines: readonly string[]) => `${lines.join('\n')}\n`

async function changed(values: Parameters<typeof make>[0] = {}) {
  const made = await make(values)
  const { git, project } = made
  const write = (files: Parameters<typeof commitOf>[0], about?: Parameters<typeof commitOf>[1]) =>
    git(['fast-import', '--quiet', '--force'], commitOf(files, about))
  write({ 'a.ts': textOf(BEFORE), 'b.txt': 'one\ntwo\n' })
  const from = git(['rev-parse', 'master'])
  const after = withLine(20, '  a comment').map(line => line.replace(/value50 = 50$/, 'value50 = 51'))
  write({ 'a.ts': textOf(after), 'b.txt': 'one\n<script>two</script>\n' }, { branch: 'change', from: from })
  return { ...made, write, from, owner: await signedIn(project.owner) }
}

t.test('commits, comparisons and merge requests show colours and what changed within lines', async t => {
  const { project, path, from, git, owner } = await changed()
  const made = await app.as(project.owner).post(`/projects/${project.id}/merge_requests`, {
    ...{ source_branch: 'change', target_branch: 'master', title: 'Change' }
  })
  const { iid } = made.json()
  await app.runJobs()
  const pages = [
    `commit/${git(['rev-parse', 'change'])}`,
    `compare/${from}...change`,
    `merge_requests/${iid}/diffs`,
    'merge_requests/new?merge_request%5Bsource_branch%5D=change&merge_request%5Btarget_branch%5D=other'
  ]
  await app.make.branch(project, 'other', 'master')
  for (const page of pages) {
    const join = page.includes('?') ? '&' : '?'
    for (const view of ['inline', 'parallel']) {
      const { body } = await coloured(owner, `${path}/${page}${join}view=${view}`)
      t.match(
        body,
        '<span class="hljs-keyword">const</span> value50 = <span class="hljs-number"><mark>51</mark></span>'
      )
      t.match(body, 'class="removed"><span class="hljs-keyword">export</span>')
      t.match(
        body,
        '<td class="added"><span class="hljs-comment">  a comment</span>',
        'a comment that begins before the change'
      )
      t.match(body, '<td class="added">&lt;script&gt;two&lt;/script&gt;</td>', 'a text has no colours')
      t.notMatch(body, /<script>two|Shown without colours/)
    }
  }
})

t.test('more context is one link away', async t => {
  const { path, git, owner } = await changed()
  const page = await owner.get(`${path}/commit/change`)
  const link = /<a href="([^"]*)" data-load="(diff-[0-9a-f]+)">Show more context<\/a>/
  const numbers = (html: string) =>
    [...html.matchAll(/<td id="diff-[0-9a-f]+-R(\d+)">/g)].map(([, number]) => Number(number))
  const [, first = '', anchor = ''] = link.exec(page.body) ?? []
  t.equal(first, `${path}/commit/${git(['rev-parse', 'change'])}?file=a.ts&amp;context=20`)
  t.match(page.body, `id="${anchor}"`)
  const wide = await coloured(owner, first.replaceAll('&amp;', '&'))
  t.match(numbers(wide.body)[0], 1)
  t.match(wide.body, '<td class="added"><span class="hljs-comment">  a comment</span>')
  t.match(wide.body, `<td>1</td><td id="${anchor}-R1">1</td><td><span class="hljs-comment">/*</span></td>`)
  t.same(
    numbers(wide.body),
    BEFORE.map((_, at) => at + 1),
    'each line once'
  )
  t.match(wide.body, /<tr class="hunk"><td colspan="3">@@ -1,62 \+1,62 @@/)
  t.notMatch(page.body, `${anchor}-R1"`)
  const [, second = ''] = link.exec(wide.body) ?? []
  t.match(second, 'context=100')
  t.match(await owner.get(`${second.replaceAll('&amp;', '&')}&view=parallel`), { status: 200 })
  t.notMatch((await owner.get(`${path}/commit/change?file=a.ts&context=5000`)).body, link)
  t.notMatch((await owner.get(`${path}/commit/change?context=20`)).body, `${anchor}-R1"`, 'only for one file')
  for (const wrong of ['-1', '5001', 'x', '1.5']) {
    t.equal((await owner.get(`${path}/commit/change?file=a.ts&context=${wrong}`)).status, 400, wrong)
  }
  const added = await owner.get(`${path}/commit/master`)
  t.notMatch(added.body, 'Show more context', 'a new file has no other lines')
})

t.test('notes belong to lines of the change, and their forms keep the context', async t => {
  const { project, path, owner } = await changed()
  const made = await app.as(project.owner).post(`/projects/${project.id}/merge_requests`, {
    ...{ source_branch: 'change', target_branch: 'master', title: 'Change' }
  })
  await app.runJobs()
  const diffs = `${path}/merge_requests/${made.json().iid}/diffs`
  const wide = await owner.get(`${diffs}?file=a.ts&context=20`)
  t.match(wide.body, /-R1">1<\/td>/, 'a line around the change has no form')
  const [, form = ''] = /-R20"><a href="([^"]*)"/.exec(wide.body) ?? []
  const asked = await owner.get(diffs + form.replaceAll('&amp;', '&'))
  t.match(asked.body, '<input type="hidden" name="context" value="20">')
  const said = await owner.submit(asked, '/line_notes', { note: 'Why?' })
  t.match(said.location, /\/diffs\?file=a\.ts&context=20#note_\d+$/)
  const seen = await owner.get(said.location ?? '')
  t.match(seen.body, /Why\?/)
  t.match(seen.body, '-R1">1</td>')
})

t.test('tables are kept for all readers, without what belongs to one of them', async t => {
  const { project, path, git, owner } = await changed({ visibility_level: 20 })
  const commit = `${path}/commit/${git(['rev-parse', 'change'])}`
  const comparison = `${path}/compare/master...change`
  const first = await owner.get(commit)
  t.match(first.body, '<a href="?note=')
  t.notMatch((await nobody.get(comparison)).body, '?note=', 'a stranger gets no forms')
  const [, note = ''] = /<a href="\?note=(diff-[0-9a-f]+-R\d+)"/.exec(first.body) ?? []
  t.match((await owner.get(`${commit}?note=${note}`)).body, 'name="line_type"')
  t.notMatch((await owner.get(commit)).body, 'name="line_type"', 'a form is not kept')
  await app
    .as(project.owner)
    .post(`/projects/${project.id}/repository/commits/${git(['rev-parse', 'change'])}/comments`, {
      ...{ note: 'remark', path: 'a.ts', line: 20, line_type: 'new' }
    })
  t.match((await owner.get(commit)).body, /<tr class="notes">.*remark/s)
  await execute("delete from notes where note = 'remark'")
  t.notMatch((await owner.get(commit)).body, /remark|class="notes"/, 'a note is not kept')
  t.match((await owner.get(`${commit}?view=parallel`)).body, '?view=parallel&amp;note=')
})

t.test('what has no colours says why, and strange files stay readable', async t => {
  const { path, git, owner, write } = await changed()
  const long = Array.from({ length: 9000 }, (_, at) => `const long${at} = ${at}`)
  const files = {
    'long.ts': textOf(long),
    'latin.ts': Buffer.from('const caf\xe9 = 1\n', 'latin1'),
    'bom.ts': '\ufeffconst bom = 1\nconst after = 1\n',
    'wide.ts': `const wide = '${'x'.repeat(3000)}'\n`,
    'marks.ts': 'const marks = `\u202e<b>`\r\n'
  }
  write(files)
  const next = (text: string | Buffer) =>
    Buffer.from(Buffer.from(text).toString('latin1').replace(/ = 1$/m, ' = 2'), 'latin1')
  write({
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [name, next(text)])),
    'wide.ts': `const wide = '${'x'.repeat(3001)}'\n`,
    'marks.ts': 'const marks = `\u202e<i>`\r\n'
  })
  const { body } = await coloured(owner, `${path}/commit/${git(['rev-parse', 'master'])}`)
  t.match(body, /const long1 = <mark>2<\/mark>.*Shown without colours, because the file is long/s)
  t.equal(body.split('Shown without colours').length, 2, 'only there')
  t.match(body, /caf\ufffd = <mark>2<\/mark>/)
  t.match(body, /bom = <mark>2<\/mark>/)
  t.match(body, '<em> and 2,0')
  t.match(body, /`\[U\+202E\]&lt;<mark>i<\/mark>&gt;`/)
  t.notMatch(body, /\u202e|<b>`|<i>`/)
})
