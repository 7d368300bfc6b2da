// Markdown and code on pages: what works, and that no text becomes active or breaks the page.
import t from 'tap'
import { LONGEST_READ } from '../../src/text/markdown.js'
import type { TextContext } from '../../src/text/page-links.js'
import { highlightedLines, pageTexts } from '../../src/text/page-texts.js'
import { TextThread } from '../../src/text/text-thread.js'

const NOTE: TextContext = { project: 'group/project' }
const FILE: TextContext = { project: 'group/project', file: { ref: 'my/branch', folder: 'docs' } }

/** Shows gaps as `[kind project name|words]`. */
async function html(text: string, context = NOTE): Promise<string> {
  const [pieces] = await pageTexts([text], context)
  const { parts = [], gaps = [] } = pieces ?? {}
  return parts
    .map((part, at) => {
      const gap = gaps[at]
      if (!gap) return part
      const { kind, project, name } = gap.reference
      return `${part}[${kind} ${project ?? '-'} ${name}|${gap.words}]`
    })
    .join('')
    .trim()
}

t.test('texts are formatted', async t => {
  t.equal(await html('**bold** `code`\nnext'), '<p><strong>bold</strong> <code>code</code><br>\nnext</p>')
  t.equal(await html('one\ntwo', FILE), '<p>one\ntwo</p>', 'the lines of a file are joined')
  t.equal(await html('# One'), '<h2>One</h2>', 'the page has the only heading of the first level')
  const tasks = await html('- [ ] open\n- [x] done #1\n- [y] other')
  t.match(tasks, '<li class="task"><input type="checkbox" disabled aria-label="To do"> open</li>')
  t.match(tasks, '<input type="checkbox" disabled checked aria-label="Done"> done [issue - 1|#1]</li>')
  t.match(tasks, '<li>[y] other</li>')
  const table = await html('| a | b |\n|---|--:|\n| 1 | 2 |')
  t.match(table, /<div class="wide" tabindex="0"><table>.*<th scope="col">a<\/th>\s*<th scope="col" class="right">b/s)
  t.notMatch(table, 'style')
  t.equal(await html(':tada: :no_such: 12:100:5 `:tada:`'), '<p>🎉 :no_such: 12:100:5 <code>:tada:</code></p>')
})

t.test('references are gaps, except in code and links, and where they are escaped', async t => {
  t.equal(
    await html('See #1, a/b!2, ~"in progress", %v1.0. and $3'),
    '<p>See [issue - 1|#1], [merge_request a/b 2|a/b!2], [label - in progress|~&quot;in progress&quot;], ' +
      '[milestone - v1.0|%v1.0]. and [snippet - 3|$3]</p>'
  )
  t.equal(await html('@ada. 0123abcd'), '<p>[mention - ada|@ada]. [commit - 0123abcd|0123abcd]</p>')
  t.equal(await html('`#1` \\#1 &#35;1 a#1'), '<p><code>#1</code> #1 #1 a#1</p>')
  t.equal(await html('[see #1](/x)'), '<p><a href="/x" rel="nofollow noopener">see #1</a></p>')
  t.match(await html('> #1'), '[issue - 1|#1]', 'in quotes')
  t.match(await html('```\n#1\n```'), '#1\n</code>')
  t.equal(await html('see **#1**'), '<p>see <strong>[issue - 1|#1]</strong></p>')
  const many = await html('#1 '.repeat(1100))
  t.equal(many.match(/\[issue/g)?.length, 1000)
})

t.test('links lead where their place says', async t => {
  const cases = [
    [NOTE, 'https://example.org/x?a=1', 'https://example.org/x?a=1'],
    [NOTE, 'mailto:ada@example.org', 'mailto:ada@example.org'],
    [NOTE, '/other/project', '/other/project'],
    [NOTE, 'docs/a.md', '/group/project/docs/a.md'],
    [NOTE, '#note_2', '#note_2'],
    [FILE, '#usage', '#md-usage'],
    [FILE, 'a.md#usage', '/group/project/blob/my/branch/docs/a.md#md-usage'],
    [FILE, 'a.ts#L10-20', '/group/project/blob/my/branch/docs/a.ts#L10-20'],
    [FILE, '../src/', '/group/project/blob/my/branch/src/'],
    [FILE, '/README.md', '/group/project/blob/my/branch/README.md'],
    [FILE, '../../../../../users/sign_out', null],
    [FILE, '//evil.example/x', null],
    [{ project: 'group/project' }, '/.//evil.example/x', null],
    [{ project: null }, '/..//evil.example/x', null],
    [FILE, '/\\evil.example/x', '/group/project/blob/my/branch/%5Cevil.example/x'],
    [NOTE, 'javascript:alert(1)', null],
    [NOTE, 'data:text/html,x', null],
    [NOTE, 'vbscript:x', null]
  ] as const
  for (const [context, link, url] of cases) {
    t.equal(/href="([^"]*)"/.exec(await html(`[x](${link})`, context))?.[1] ?? null, url, link)
  }
  t.match(await html('https://example.org/a.'), 'href="https://example.org/a" rel="nofollow noopener"')
})

t.test('only our own images are shown', async t => {
  const upload = `/uploads/${'0a'.repeat(16)}/a.png`
  t.equal(
    await html(`![one "two"](${upload})`),
    `<p><img src="/group/project${upload}" alt="one &quot;two&quot;" loading="lazy"></p>`
  )
  t.match(await html('![x](a.png)', FILE), 'src="/group/project/raw/my/branch/docs/a.png"')
  t.equal(
    await html('![badge](https://example.org/a.svg)'),
    '<p><a href="https://example.org/a.svg" rel="nofollow noopener">badge</a></p>'
  )
  t.equal(
    await html('[![badge](https://example.org/a.svg)](https://example.org/b)'),
    '<p><a href="https://example.org/b" rel="nofollow noopener">badge</a></p>'
  )
  for (const url of ['//example.org/a.png', 'data:image/png;base64,AAAA', 'javascript:x'])
    t.notMatch(await html(`![x](${url})`), /<img|<a/)
})

t.test('no text becomes active', async t => {
  t.equal(
    await html('<script>alert(1)</script> <b onclick="x">'),
    '<p>&lt;script&gt;alert(1)&lt;/script&gt; &lt;b onclick=&quot;x&quot;&gt;</p>'
  )
  t.notMatch(await html('[a](https://x.example/"onmouseover="x)'), /<a[^>]*onmouseover="/)
  t.notMatch(await html('```"><script>\n</code><script>\n```'), '<script')
  t.notMatch(await html('```js\n</code><script>"`\n```'), '<script')
  t.notMatch((await pageTexts(['~"<img src=x onerror=x>" :<b>: @<b>'], NOTE))[0]?.gaps[0]?.words ?? '<img', '<img')
  t.equal(await html('a\0b &#0; #1'), '<p>a\ufffdb \ufffd [issue - 1|#1]</p>', 'nobody else makes gaps')
  t.match(await html('https://x.example/%00 #1'), '>https://x.example/\ufffd</a> [issue - 1|#1]</p>')
  t.match(await html('![&lt;b&gt;](a.png)'), 'alt="&lt;b&gt;"')
})

t.test('headings of files have addresses', async t => {
  const page = await html('# Über `it` #1\n\n## Same\n\n## Same\n\n## <">', FILE)
  t.match(page, '<h2 id="md-über-it-1">')
  t.match(page, ' <a class="anchor" href="#md-same" aria-hidden="true" tabindex="-1">#</a></h3>')
  t.match(page, '<h3 id="md-same-1">Same <a class="anchor" href="#md-same-1"')
  t.match(page, '<h3 id="md-section">')
})

t.test('long texts are read on the thread, and too long ones shown plain', async t => {
  const long = 'word *word* #1\n\n'.repeat(2000)
  t.match(await html(long), /^<p>word <em>word<\/em> \[issue - 1\|#1\]<\/p>/)
  const [first, second] = await pageTexts([long, long], NOTE)
  t.equal(first, second, 'once')
  const [other] = await pageTexts([long], { project: 'a/b' })
  t.not(first, other)
  const plain = await html(`<b>${'x'.repeat(LONGEST_READ)}`)
  t.match(plain, /too long to be formatted\.<\/p>\n<pre tabindex="0">&lt;b&gt;x/)
  t.match(await html('x'.repeat(500_001)), 'Only its first 500000 characters are shown.')
  t.match(await html('```js\nlet a = 1\n```'), '<span class="hljs-keyword">let</span>', 'code in a known language')
})

t.test('views that need the same text or code at once share it', async t => {
  const { run } = TextThread.prototype
  let tasks = 0
  TextThread.prototype.run = function (task) {
    tasks++
    return run.call(this, task) as never
  }
  t.teardown(() => {
    TextThread.prototype.run = run
  })
  const ask = () => pageTexts(['*shared*\n\n'.repeat(2000)], NOTE)
  const [[first], [second], [third]] = await Promise.all([ask(), ask(), ask()])
  t.ok(first)
  t.same([second === first, third === first, tasks], [true, true, 1])
  const code = () => highlightedLines('shared', 'a.js', 'let a')
  const [one, two] = await Promise.all([code(), code()])
  t.strictSame(one, two)
  t.equal(tasks, 2)
})

t.test('when the time of a page is over, other long texts are plain, and are formatted later', async t => {
  const long = '*late*\n\n'.repeat(2000)
  const shown = (await pageTexts([long, '*short*'], NOTE, 0)).map(({ parts }) => parts.join(''))
  t.match(shown[0], /^<p class="hint">This text is not formatted.*<pre tabindex="0">\*late\*/s)
  t.equal(shown[1]?.trim(), '<p><em>short</em></p>')
  t.match(await html(long), /^<p><em>late<\/em>/)
})

t.test('a file with very many headings has few addresses, and one that becomes too long is plain', async t => {
  const headings = await html('# a\n'.repeat(5000), FILE)
  t.equal(headings.match(/<h2/g)?.length, 5000)
  t.equal(headings.match(/<h2 id=/g)?.length, 1000)
  t.equal(headings.match(/class="anchor"/g)?.length, 1000)
  t.match(headings, / href="#md-a-999" /)
  t.match(await html('> a\n\n'.repeat(39_000), FILE), 'too long to be formatted')
})

t.test('code has whole elements in every line', async t => {
  const code = '/* one\n two <b> */\nlet a = `x\n</span>\ny`\n'
  const lines = await highlightedLines('1', 'src/a.js', code)
  t.equal(lines?.length, 6)
  t.equal(lines?.[0], '<span class="hljs-comment">/* one</span>')
  t.equal(lines?.[1], '<span class="hljs-comment"> two &lt;b&gt; */</span>')
  for (const line of lines ?? []) t.equal(line.match(/<span/g)?.length, line.match(/<\/span>/g)?.length, line)
  t.strictSame(
    (lines ?? []).map(line =>
      line
        .replace(/<[^>]*>/g, '')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
    ),
    code.split('\n'),
    'the text is the same'
  )
  t.match(await highlightedLines('2', 'Dockerfile.test', 'FROM a\nRUN if true; then x; fi'), [
    /keyword/,
    /language-bash/
  ])
  t.match(
    await highlightedLines('3', 'a.html', '<style>a { color: red }</style>'),
    [/hljs-attribute/],
    'inner languages'
  )
})

t.test('code is plain in other languages, and when it is too long', async t => {
  t.equal(await highlightedLines('4', 'a.unknown', 'let a'), null)
  t.equal(await highlightedLines('5', 'no-ending', 'let a'), null)
  t.equal(await highlightedLines('6', 'a.js', 'x'.repeat(600_000)), null)
  t.equal(await highlightedLines('7', 'a.js', '\n'.repeat(20_001)), null)
  t.ok(await highlightedLines('8', 'a.js', '\n'.repeat(20_000)))
})
