import { findCoverage } from '../../src/ci/coverage.js'
import { busySeconds } from '../../src/ci/duration.js'
import { compilePattern, PatternError, search } from '../../src/ci/pattern.js'
import { matchesRef, type RefContext, refPatternProblem } from '../../src/ci/refs.js'
import t from '../helpers/tap.js'

t.test('patterns match like the engine of JavaScript', async t => {
  const pieces = [
    'a',
    'b',
    '.',
    '[ab]',
    '[^a]',
    '\\d',
    '\\b',
    '(',
    ')',
    '(?:',
    '(?=',
    '(?!',
    '|',
    '*',
    '+',
    '?',
    '{1,2}'
  ]
  pieces.push('^', '$', '*?', '1', '\\.', '(a|b)')
  const texts = ['', 'a', 'b', 'ab', 'aab1', 'b.a', 'abab', '1a1', 'aaaa', '-b a']
  let seed = 7
  const next = (limit: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return Math.floor((seed / 2147483648) * limit)
  }
  let compared = 0
  for (let round = 0; round < 20_000; round++) {
    const source = Array.from({ length: 1 + next(7) }, () => pieces[next(pieces.length)]).join('')
    let pattern: ReturnType<typeof compilePattern>
    try {
      pattern = compilePattern(source)
    } catch (error) {
      if (!(error instanceof PatternError)) throw error
      continue
    }
    const expression = new RegExp(source)
    for (const text of texts) {
      const ours = search(pattern, text)?.groups[0]
      // Engines differ in how often they repeat an empty part. So the matched text may differ, but not whether it
      // matches.
      const same = /[*+?}]\??\)*[*+?{]/.test(source)
        ? (ours === undefined) === !expression.test(text)
        : ours === expression.exec(text)?.[0]
      if (!same) t.fail(`/${source}/ in ${JSON.stringify(text)} gives ${ours}`)
      compared++
    }
  }
  t.ok(compared > 20_000, `${compared} comparisons`)
})

t.test('the error for a refused pattern shows the reason', async t => {
  const cases: Record<string, string> = {
    '/(a/': 'has a `(` without its `)`',
    '/a)/': 'has a `)` without its `(`',
    '/[a/': 'has a `[` without its `]`, or with nothing in it',
    '/[[:alpha:]]/': 'has a `[` within a class (write `\\[`)',
    '/[z-a]/': 'has a class that is not valid: [z-a]',
    '/*a/': 'has a `*` with nothing to repeat',
    '/{2}a/': 'has a `{` with nothing to repeat',
    '/a{3,1}/': 'has a repeat with its limits in the wrong order',
    '/a**/': 'repeats a repeat (put the first in a group)',
    '/a++/': 'repeats a repeat (put the first in a group)',
    '/^*/': 'repeats something without a length',
    '/(a)\\1/': 'has `\\1`, which is not supported',
    '/\\p{L}/': 'has `\\p`, which is not supported',
    '/(?<=a)b/': 'has a kind of group that is not supported',
    '/(?>a)/': 'has a kind of group that is not supported',
    '/(?=(?=a))/': 'has a look-ahead within a look-ahead',
    '/a\\/': 'ends with a single `\\`',
    '/(a{99}){99}/': 'repeats too much',
    '': 'is empty'
  }
  for (const [entry, problem] of Object.entries(cases)) t.equal(refPatternProblem(entry), problem, entry)
  t.equal(refPatternProblem(`/${'a'.repeat(256)}/`), 'is longer than 255 characters')
  t.equal(refPatternProblem(`/${'a'.repeat(255)}/`), undefined)
})

t.test('patterns that make other engines run forever end in time', async t => {
  const text = `${'a'.repeat(254)}b`
  for (const source of [
    '(a+)+$',
    '^(a|a)*$',
    '(a|aa)+c',
    '(.*)*c',
    '.*.*.*.*.*.*c',
    '(a?){40}a{40}$',
    '(?:(?=.*.*c)a)+$'
  ])
    t.equal(search(compilePattern(source), text), undefined, source)
})

t.test('entries of only and except match refs and kinds of pipeline', async t => {
  const branch: RefContext = { ref: 'feature/x', tag: false, source: 'push', projectPath: 'group/project' }
  const cases: [entry: string, context: Partial<RefContext>, expected: boolean][] = [
    ['branches', {}, true],
    ['branches', { tag: true }, false],
    ['tags', { tag: true }, true],
    ['tags', {}, false],
    ['triggers', { source: 'trigger' }, true],
    ['triggers', {}, false],
    ['pushes', {}, true],
    ['api', { source: 'api' }, true],
    ['api', {}, false],
    ['api', { ref: 'api' }, true],
    ['feature/x', {}, true],
    ['Feature/x', {}, false],
    ['feature/*', {}, false],
    ['/feature/', {}, true],
    ['/^x/', {}, false],
    ['/^feature\\/[a-z]$/', {}, true],
    ['/FEATURE/', {}, false],
    ['/FEATURE/i', {}, true],
    ['/(?i)FEATURE/', {}, true],
    ['/\\Afeature.x\\z/', {}, true],
    ['/^(?!master)/', {}, true],
    ['/^(?!feature)/', {}, false],
    ['/^v\\d+(\\.\\d+)*$/', { ref: 'v1.22.3', tag: true }, true],
    ['/^\\h{8}$/', { ref: '00ffAA11' }, true],
    ['/ü$/', { ref: 'grün-ü' }, true],
    ['/./', { ref: 'a'.repeat(256) }, false],
    ['branches@group/project', {}, true],
    ['branches@fork/project', {}, false],
    ['/feature/@group/project', {}, true],
    ['/feature/i@other/project', {}, false],
    ['/a@b/', { ref: 'a@b' }, true]
  ]
  for (const [entry, context, expected] of cases)
    t.equal(matchesRef(entry, { ...branch, ...context }), expected, `${entry} for ${JSON.stringify(context)}`)
})

t.test('coverage is the last match, its last group, the first number', async t => {
  t.equal(findCoverage('TOTAL 12%\nTOTAL 1 45.5% TOTAL 1 46.5%\nend\n', 'TOTAL.*? (\\d+\\.\\d+)%'), 46.5)
  t.equal(findCoverage('covered: 80 of 90', '(\\d+) of (\\d+)'), 90)
  t.equal(findCoverage('Lines: 87.25% (8 of 9)', '^Lines:\\s+\\d+.*'), 87.25)
  t.equal(findCoverage('nothing', '(\\d+)'), null)
  t.equal(findCoverage('', '(\\d+)'), null)
  t.equal(findCoverage('1', '('), null)
  t.equal(findCoverage(`${'a'.repeat(990)}\n`.repeat(2000), '(a+)+b(\\d+)'), null)
})

t.test('overlapping times count once', async t => {
  const spans = (...pairs: [number, number][]) =>
    busySeconds(pairs.map(([from, to]) => ({ startedAt: new Date(from * 1000), finishedAt: new Date(to * 1000) })))
  t.equal(spans(), 0)
  t.equal(spans([0, 10]), 10)
  t.equal(spans([5, 15], [0, 10]), 15)
  t.equal(spans([0, 100], [10, 20], [30, 40]), 100)
  t.equal(spans([0, 10], [20, 30]), 20)
  t.equal(spans([0, 10], [10, 20]), 20)
  t.equal(spans([10, 5], [0, 1]), 1, 'a clock that was set back adds nothing')
})
