// References, mentions, closing patterns and slash commands, as tables.
import { closedIssues } from '../../src/text/closing-references.js'
import { LONGEST_READ } from '../../src/text/markdown.js'
import { MOST_MENTIONS, MOST_REFERENCES, parseText, type Reference } from '../../src/text/references.js'
import { withProject } from '../../src/text/rewrite-references.js'
import { commandLines, MOST_COMMANDS, withoutLines } from '../../src/text/slash-commands.js'
import t from '../helpers/tap.js'

const BASE = 'https://git.example.org/here'
const SIGNS = { issue: '#', merge_request: '!', snippet: '$', label: '~', milestone: '%', commit: '@' }

/** `group/project#1`, as it was written. */
const short = ({ kind, project, name }: Reference) => `${project ?? ''}${SIGNS[kind]}${name}`

t.test('references', async t => {
  const cases: [text: string, ...found: string[]][] = [
    ['nothing at all'],
    ['see #1, #02 and #1.', '#1', '#2'],
    ['(#1) [#2] **#3** _#4_ #5!', '#1', '#2', '#3', '#4', '#5'],
    ['!12 and group/project!3', '!12', 'group/project!3'],
    ['my-group/some.project#44 A_b/c#1', 'my-group/some.project#44', 'A_b/c#1'],
    ['a#1 #1a 1#1 é#1 /#1 x.y#1 #99999999999'],
    ['# 1\n#12 is no heading', '#12'],
    ['~bug ~"two words" ~12 ~"a', '~bug', '~two words', '~12', '~a'].slice(0, 4) as [string, ...string[]],
    ['~bug, ~to-do. ~why? ~größe', '~bug', '~to-do', '~why', '~größe'],
    ['group/project~bug a~b ~~gone~~', 'group/project~bug'],
    ['%1 %v1.0 %"Next one" 100%', '%1', '%v1.0', '%Next one'],
    ['$7 and $', '$7'],
    ['deadbeef 1234567 group/project@0123456789abcdef', '@deadbeef', '@1234567', 'group/project@0123456789abcdef'],
    ['abc123 DEADBEEF deadbeefs 0123456789012345678901234567890123456789a'],
    [`${BASE}/group/project/issues/5.`, 'group/project#5'],
    [`<${BASE}/group/project/merge_requests/6/diffs>`, 'group/project!6'],
    [`[#1 and #2](${BASE}/a/b/issues/3#note_4)`, 'a/b#3'],
    [`${BASE}/a/b/commit/deadbeef ${BASE}/a/b/milestones/2`, 'a/b@deadbeef', 'a/b%2'],
    [`${BASE}/a/b/issues/new ${BASE}/a/b/tree/1 ${BASE}x/a/b/issues/1`],
    ['https://example.org/a/b/issues/5#1 http://x/y#2'],
    ['`#1` ``~a`b`` <code>#2</code> <!-- #3 -->'],
    ['```\n#1\n```\n\n    #2\n\n#3', '#3'],
    ['> #1\nlazy #2\n\n#3\n> > #4', '#3'],
    ['- #1\n  - #2\n\n| #3 | #4 |', '#1', '#2', '#3', '#4'],
    ['\\#1 \\~bug'],
    ['![#1](x) ![a](y "#2")'],
    ['<b>#1</b> #2&#35;3', '#1', '#2']
  ]
  for (const [text, ...found] of cases) {
    t.same(parseText(text, BASE).references.map(short).sort(), [...found].sort(), JSON.stringify(text))
  }
})

t.test('references in another project', async t => {
  const cases: [text: string, moved: string][] = [
    ['see #1, !2 and $3.', 'see a/b#1, a/b!2 and a/b$3.'],
    ['~bug ~"two words" %v1.0 @ada deadbeef', 'a/b~bug a/b~"two words" a/b%v1.0 @ada deadbeef'],
    ['x/y#1 x/y~bug a#1 #1a', 'x/y#1 x/y~bug a#1 #1a'],
    ['`#1` #1 ``#2`` #2', '`#1` a/b#1 ``#2`` a/b#2'],
    ['```\n#1\n```\n\n#1', '```\n#1\n```\n\na/b#1'],
    ['> #1\n\n- #2\n  - **#3**\r\n\r\n## #4', '> #1\n\n- a/b#2\n  - **a/b#3**\r\n\r\n## a/b#4'],
    ['[#1](http://x/#2) #1 <b>#2</b> https://x/y#3 #3', '[#1](http://x/#2) a/b#1 <b>a/b#2</b> https://x/y#3 a/b#3'],
    ['\\#1 &#35;2 #3', '\\#1 &#35;2 a/b#3'],
    ['x #1\n  y #2\\\n#3', 'x a/b#1\n  y a/b#2\\\na/b#3'],
    ['#1'.repeat(3), 'a/b#1#1#1'],
    ['nothing', 'nothing']
  ]
  for (const [text, moved] of cases) t.equal(withProject(text, 'a/b'), moved, JSON.stringify(text))
  const many = '#1 '.repeat(LONGEST_READ / 3)
  t.equal(withProject(many, 'a/b'), 'a/b#1 '.repeat(LONGEST_READ / 3).trimEnd() + ' '.repeat(1), 'as many as are read')
})

t.test('mentions', async t => {
  const cases: [text: string, ...found: string[]][] = [
    ['@ann, @bob-b and (@c_c): @d.d.', 'ann', 'bob-b', 'c_c', 'd.d'],
    ['@ann @Ann @ANN', 'ann'],
    ['ann@example.org é@x a_@b'],
    ['@all **@group**', 'all', 'group'],
    ['`@ann`\n\n> @bob\n\n```\n@c\n```'],
    ['\\@ann @a\\_b', 'a_b'],
    ['https://example.org/@ann [x](https://example.org/@bob)'],
    ['@-x @.y @ @@z', 'z']
  ]
  for (const [text, ...found] of cases) t.same(parseText(text, BASE).mentions, found, JSON.stringify(text))
})

t.test('closing patterns', async t => {
  const cases: [text: string, ...found: string[]][] = [
    ...[
      'Close',
      'Closes',
      'Closed',
      'Closing',
      'close',
      'fix',
      'Fixes',
      'fixed',
      'Fixing',
      'resolve',
      'Resolves',
      'resolved',
      'resolving'
    ].map((word): [string, string] => [`${word} #1`, '#1']),
    ['Closes: #1', '#1'],
    ['Fixes #1, #2 and #3; #4', '#1', '#2', '#3'],
    ['Fixes #1,#2, and group/project#3', '#1', '#2', 'group/project#3'],
    ['closes issue #1 and issues #2 #3', '#1', '#2', '#3'],
    [`Closes ${BASE}/a/b/issues/1, ${BASE}/a/b/issues/2`, 'a/b#1', 'a/b#2'],
    [`Closes [it](${BASE}/a/b/issues/1)`, 'a/b#1'],
    ['CLOSES #1 closest #1 encloses #1 fixe #1 prefix-fix #1 Closes#1'],
    ['Closes !1 and closes ~bug'],
    ['Closes the issue #1'],
    ['`Closes #1`\n\n> Closes #2\n\n    Closes #3'],
    ['Closes `x` #1 closes\n#2'],
    ['It fixes #1. Also resolves #2', '#1', '#2'],
    ['Subject\n\nBody\n\nCloses #7\nSigned-off-by: a', '#7']
  ]
  for (const [text, ...found] of cases) t.same(closedIssues(text, BASE).map(short), found, JSON.stringify(text))
})

t.test('slash commands', async t => {
  const names = new Set(['close', 'assign', 'label', 'wip'])
  const cases: [text: string, ...found: string[]][] = [
    ['/close', '0 close '],
    ['Done.\n/close\n/assign  @ann ', '1 close ', '2 assign @ann'],
    ['/label ~a ~"b c"\r\n\r\ntext\r\n/wip', '0 label ~a ~"b c"', '3 wip '],
    ['say /close\n /close\n/closed\n/Close\n/close/x\n/unknown'],
    ['```\n/close\n```\n\n    /close\n\n> /close\n\n<pre>\n/close\n</pre>'],
    ['a `code\n/close\n` b\n\n/wip', '4 wip '],
    ['- item\n\n/close', '2 close '],
    ['text `#1` <b>x</b> [l](u)\n/close', '1 close ']
  ]
  for (const [text, ...found] of cases) {
    t.same(
      commandLines(text, names).map(({ line, name, argument }) => `${line} ${name} ${argument}`),
      found,
      JSON.stringify(text)
    )
  }
  t.equal(withoutLines('one\n/close\ntwo\n/wip\n', [{ line: 1 }, { line: 3 }]), 'one\ntwo')
  t.equal(withoutLines('/close\n', [{ line: 0 }]), '')
  t.equal(withoutLines(' as it is\r\n', []), ' as it is\r\n')
  t.equal(commandLines('/close\n'.repeat(500), names).length, MOST_COMMANDS)
})

t.test('slash commands of long texts, which no parser reads', async t => {
  const names = new Set(['close', 'title', 'todo'])
  const rest = `\n\n${'text '.repeat(1000)}`
  const cases: [text: string, ...found: string[]][] = [
    ['/close', '0 close'],
    ['text\r\n/close\r\n/title  a  b ', '1 close', '2 title a  b'],
    ['- item\n\n/close', '2 close'],
    ['```\n/close\n```\n/todo', '3 todo'],
    ['~~~~ js\n/close\n~~~\n/close\n~~~~~\n/todo', '5 todo'],
    ['```js `x`\n/close', '1 close'],
    ['- a\n  ```\n  x\n/close\n  ```\n/todo', '5 todo'],
    ['> quote\n/close\n\n/todo', '3 todo'],
    ['> ```\n> /close\n> ```\n\n/todo', '4 todo'],
    ['<div>\n/close\n</div>\n\n/todo', '4 todo'],
    ['    /close\n\t/close\n /close\n/closed\n//close'],
    ['```\nwithout an end\n/close']
  ]
  for (const [text, ...found] of cases) {
    const lines = commandLines(`${text}${rest}`, names).map(({ line, name, argument }) =>
      `${line} ${name} ${argument}`.trim()
    )
    t.same(lines, found, JSON.stringify(text))
  }
  t.equal(commandLines('/close\n- @a\n'.repeat(15_800), names).length, MOST_COMMANDS)
})

t.test('ten thousand mentions, and more references than are read', async t => {
  const many = Array.from({ length: 10_000 }, (_, at) => `@user-${at}`).join(' ')
  t.equal(parseText(many, BASE).mentions.length, 10_000)
  const text = Array.from({ length: 20_000 }, (_, at) => `#${at} @u${at}`).join(' ')
  const found = parseText(text, BASE)
  t.equal(found.references.length, MOST_REFERENCES)
  t.equal(found.mentions.length, MOST_MENTIONS)
  t.same(parseText(`${'x'.repeat(LONGEST_READ)} #1 @ann`, BASE), { references: [], mentions: [] })
})

// Not timed: a hostile text whose cost grows faster than its length would not end.
t.test('a megabyte of any of these is read', async t => {
  const pieces = [
    '@a',
    'a#',
    'a/',
    '~"',
    '#1 ',
    'a/b',
    'Closes ',
    'Closes #1, ',
    '/close\n',
    '[',
    '> ',
    '`a ',
    '&a',
    'a.-',
    'http://',
    `${BASE}/`
  ]
  for (const piece of pieces) {
    const text = piece.repeat(1_000_000 / piece.length)
    parseText(text, BASE)
    closedIssues(`Closes #1 ${text}`, BASE)
    commandLines(`/close\n${text}`, new Set(['close']))
  }
  t.pass('they end')
})
