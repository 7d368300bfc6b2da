// Markdown in mails: links work outside of the appliance, and no text becomes active.
import { markdownHtml } from '../../src/text/html.js'
import t from '../helpers/tap.js'

const BASE = {
  root: 'https://git.example.org',
  project: 'group/project',
  page: 'https://git.example.org/group/project/issues/1'
}
const html = (text: string) => markdownHtml(text, BASE).trim()

t.test('Markdown is rendered', async t => {
  t.equal(html('**bold** and `code`\nnext'), '<p><strong>bold</strong> and <code>code</code><br>\nnext</p>')
  t.match(html('- one\n- two'), /<ul>\s*<li>one<\/li>\s*<li>two<\/li>\s*<\/ul>/)
  t.match(html('```\n<a>\n```'), '<pre><code>&lt;a&gt;\n</code></pre>')
})

t.test('links are absolute', async t => {
  const cases = [
    ['https://example.org/x?a=1', 'https://example.org/x?a=1'],
    ['/uploads/0123/a.png', 'https://git.example.org/group/project/uploads/0123/a.png'],
    ['/other/project', 'https://git.example.org/other/project'],
    ['docs/read me.md', null],
    ['docs/a.md', 'https://git.example.org/group/project/docs/a.md'],
    ['#note_2', 'https://git.example.org/group/project/issues/1#note_2'],
    ['mailto:ada@example.org', 'mailto:ada@example.org'],
    ['/\\evil.example', 'https://git.example.org/%5Cevil.example']
  ] as const
  for (const [link, url] of cases) t.equal(/href="([^"]*)"/.exec(html(`[x](${link})`))?.[1] ?? null, url, link)
  t.match(html('see https://example.org/a.'), '<a href="https://example.org/a">https://example.org/a</a>.')
})

t.test('no text becomes active', async t => {
  for (const link of [
    'javascript:alert(1)',
    'JAVASCRIPT:x',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '//evil.example'
  ])
    t.notMatch(html(`[x](${link}) ![y](${link}) <${link}>`), /href="|<img/, link)
  t.match(html('<script>alert(1)</script> <b onclick="x">b</b>'), /^<p>&lt;script&gt;/)
  t.notMatch(html('<img src=x onerror=alert(1)>\n\n<style>p{}</style>'), /<(img|style)/)
  t.notMatch(html('[x](https://example.org "a\\" onclick=\\"x")'), /onclick/)
})

t.test('images are links, so that nobody sees who reads a mail', async t => {
  t.equal(
    html('![a <b>](/uploads/0/a.png)'),
    '<p><a href="https://git.example.org/group/project/uploads/0/a.png">a &lt;b&gt;</a></p>'
  )
  t.equal(
    html('[![badge](https://x.example/b.svg)](https://x.example)'),
    '<p><a href="https://x.example/">badge</a></p>'
  )
  t.equal(html('![](https://x.example/b.svg)'), '<p><a href="https://x.example/b.svg">image</a></p>')
})
