import { lastLines, placeOf, placeText, renderTrace, START } from '../../src/text/trace.js'
import t from '../helpers/tap.js'

const render = (text: string) => renderTrace(Buffer.from(text))
const html = (text: string) => renderTrace(Buffer.from(text), START, { whole: true }).pieces.join('</details>')
/** The text of a line, without its number. */
const shown = (text: string) => html(text).replace(/<a [^>]*>\d+<\/a>/g, '')

t.test('each line has a number and an anchor', async t => {
  t.equal(
    html('one\n\ntwo'),
    '<div id="L1"><a href="#L1" tabindex="-1">1</a>one</div><div id="L2"><a href="#L2" tabindex="-1">2</a></div>' +
      '<div id="L3"><a href="#L3" tabindex="-1">3</a>two</div>'
  )
})

t.test('colours of terminals become classes', async t => {
  const colored: readonly (readonly [text: string, classes: string])[] = [
    ['\x1b[31mx', 'c1'],
    ['\x1b[1;92mx', 'c10 tb'],
    ['\x1b[0;44mx', 'g4'],
    ['\x1b[38;5;9mx', 'c9'],
    ['\x1b[38;5;196mx', 'c9'],
    ['\x1b[48;5;244mx', 'g0'],
    ['\x1b[38;2;0;200;10mx', 'c2'],
    ['\x1b[38:2:0:200:10mx', 'c2'],
    ['\x1b[3;4;7mx', 'ti tu tr']
  ]
  for (const [text, classes] of colored) t.match(shown(text), `<span class="${classes}">x</span>`, JSON.stringify(text))
  t.match(shown('\x1b[31;1ma\x1b[22mb\x1b[mc'), /<span class="c1 tb">a<\/span><span class="c1">b<\/span>c/)
  t.match(shown('\x1b[31ma\nb'), /<span class="c1">b<\/span>/, 'a colour stays after the end of a line')
  t.notMatch(shown('\x1b[38;5;999mx\x1b[38;7mx\x1b[999mx\x1b[38mx'), 'class')
})

t.test('a line shows what a terminal shows at its end', async t => {
  t.equal(shown('10%\r50%\r100%\r\n'), '<div id="L1">100%</div>')
  t.equal(shown('\x1b]0;title\x07a\x1b[2Kb\x1b[?25lc\x1b(Bd\x07e\x1b'), '<div id="L1">abcde</div>')
  t.equal(shown('\x1b[32mold\rnew'), '<div id="L1"><span class="c2">new</span></div>', 'with colours that began before')
})

t.test('hostile output stays text', async t => {
  t.equal(
    shown('<script>alert(1)</script>&\u202egnp'),
    '<div id="L1">&lt;script&gt;alert(1)&lt;/script&gt;&amp;gnp</div>'
  )
  t.equal(shown('\x1b[31"onclick=xm<i>'), '<div id="L1">nclick=xm&lt;i&gt;</div>')
  t.match(html('section_start:1:a"><b>x\r\x1b[0K<b>\n'), /&lt;b&gt;<\/div>$/, 'and is no section')
  t.match(renderTrace(Buffer.from([0xff, 0xfe, 0x0a])).pieces.join(''), /\ufffd\ufffd/)
})

t.test('URLs become links', async t => {
  const link = (url: string) => `<a href="${url}" rel="nofollow noopener">${url}</a>`
  t.equal(shown('see https://a.example/b?c=d&e.'), `<div id="L1">see ${link('https://a.example/b?c=d&amp;e')}.</div>`)
  t.equal(shown('http://a"b<i>'), `<div id="L1">${'http://a"b<i>'.replace('<', '&lt;').replace('>', '&gt;')}</div>`)
  t.equal(shown('javascript:alert(1) http://'), '<div id="L1">javascript:alert(1) http://</div>')
})

t.test('sections can be folded', async t => {
  const text = [
    'section_start:1000:build\r\x1b[0K\x1b[36mBuilding\x1b[0m',
    'make',
    'section_start:1005:inner[collapsed=true]\r\x1b[0K',
    'cc',
    'section_end:1007:inner\r\x1b[0Kafter',
    'section_end:1010:build\r\x1b[0K',
    'done'
  ].join('\n')
  t.equal(
    shown(text),
    '<details open><summary id="L1"><b>1</b><span class="c6">Building</span> <i>10 s</i></summary><div id="L2">make</div>' +
      '<details><summary id="L3"><b>3</b>inner <i>2 s</i></summary><div id="L4">cc</div></details><div id="L5">after</div></details>' +
      '<div id="L7">done</div>'
  )
  t.match(
    shown('section_start:1:a\r\x1b[0Ksection_start:1:b\r\x1b[0Kx\nsection_end:2:a\r\x1b[0K\ny'),
    '</details></details>'
  )
  t.match(shown('section_end:2:a\r\x1b[0Kx'), '<div id="L1">x</div>', 'an end without a start changes nothing')
  t.equal(
    (html('section_start:1:a\r\n'.repeat(500)).match(/<details/g) ?? []).length,
    10,
    'sections are not nested without end'
  )
})

t.test('a part begins where the last one ended', async t => {
  const lines = Array.from({ length: 40 }, (_, at) =>
    at % 10 === 0
      ? `section_start:${at}:s${at}\r\x1b[0Khead`
      : at % 10 === 8
        ? `section_end:${at}:s${at - 8}\r\x1b[0K`
        : `\x1b[3${at % 8}mline ${at}`
  )
  const whole = Buffer.from(`${lines.join('\n')}\n`)
  for (const size of [7, 100, 333]) {
    let place = START
    let shown = ''
    let at = 0
    for (let end = size; at < whole.length; end += size) {
      const part = renderTrace(whole.subarray(at, end), placeOf(placeText(place)))
      // The script closes sections in the page in the same way.
      shown += part.pieces.map(piece => piece.replace(/(<\/details>)+$/, '')).join('</details>')
      place = part.next
      at += part.length
    }
    const plain = (text: string) => text.replace(/ <i>\d+ s<\/i>| data-open/g, '')
    t.equal(plain(shown), plain(render(whole.toString()).pieces.join('')), `${size} bytes`)
    t.equal(place.line, 41)
  }
})

t.test('an unfinished line comes apart, and has no effect yet', async t => {
  const part = render('one\n\x1b[31mtw')
  t.match(part.pieces.join(''), />one<\/div>$/)
  t.equal(part.tail, '<a>2</a><span class="c1">tw</span>')
  t.equal(part.length, 4)
  t.same(part.next, { ...START, line: 2 })
  t.equal(render('one\nsection_start:1:a\r').tail, '')
})

t.test('a very long line is broken', async t => {
  const part = renderTrace(Buffer.alloc(100_000, 'x'))
  t.equal(part.length, 6 * 16_384)
  t.equal(part.next.line, 7)
})

t.test('the last lines of a trace keep their numbers', async t => {
  const bytes = Buffer.from('a\nbb\nccc\nd')
  const last = (lines: number, most = 100) => lastLines(bytes, { lines, bytes: most })
  t.same(last(100), { start: 0, line: 1 })
  t.same(last(2), { start: 5, line: 3 })
  t.same(last(1), { start: 9, line: 4 })
  t.same(last(100, 5), { start: 5, line: 3 })
  t.same(last(100, 6), { start: 5, line: 3 }, 'no line is cut')
  t.same(lastLines(Buffer.alloc(0), { lines: 5, bytes: 5 }), { start: 0, line: 1 })
  t.same(lastLines(Buffer.alloc(100_000, 'x'), { lines: 9, bytes: 40_000 }), { start: 4 * 16_384, line: 5 })
})

t.test('only a place that a part returned is a place', async t => {
  for (const text of ['', 'x', '1', `1___0000${'~1:a'.repeat(11)}`, '1_99999__0000']) t.same(placeOf(text), START)
  t.same(placeOf('5_16_3_1000~7:a.b'), {
    line: 5,
    look: { color: null, back: 3, bold: true, italic: false, underline: false, reverse: false },
    sections: [{ name: 'a.b', start: 7 }]
  })
})
