import t from 'tap'
import { isHexColor } from '../../src/lib/color.js'
import { escapeHtml } from '../../src/lib/html.js'

t.test('text stays text, between tags and in attributes', async t => {
  t.equal(
    escapeHtml(`<a href="x" title='y'>&amp;</a>`),
    '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;'
  )
  t.equal(escapeHtml('plain ä 😀\n'), 'plain ä 😀\n')
})

t.test('recognises colours', async t => {
  for (const color of ['#fff', '#FFF', '#01aBcD']) t.ok(isHexColor(color), color)
  for (const color of [
    '',
    'fff',
    '#ff',
    '#ffff',
    '#fffff',
    '#fffffff',
    '#ggg',
    ' #fff',
    '#fff\n',
    '#fff;top:0',
    'red'
  ]) {
    t.notOk(isHexColor(color), JSON.stringify(color))
  }
})
