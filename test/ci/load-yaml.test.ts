import { parseConfig } from '../../src/ci/config.js'
import { TEXT_LIMIT } from '../../src/ci/load-yaml.js'
import t from '../helpers/tap.js'

t.test('the error for text that is not YAML names the position', async t => {
  const cases: [text: string, error: RegExp][] = [
    ['a: [b', /^yaml is not valid: Flow sequence .* \(line 1, column 6\)$/],
    ['a: 1\n\tb: 2', /^yaml is not valid: Tabs .* \(line 2, column 1\)$/],
    ['a: !ruby/object:Kernel x', /^yaml is not valid: Unresolved tag/],
    ['a: !!binary aGk=', /^yaml is not valid: Unresolved tag/],
    ['a: 1\na: 2', /^yaml has the key `a` twice \(line 2, column 1\)$/],
    ['---\na: 1\n---\nb: 1', /^yaml should contain one document$/],
    ['b: *x', /^yaml has an alias of an unknown anchor: x \(line 1, column 4\)$/],
    ['b: &x [*x]', /^yaml has an alias of an unknown anchor: x/],
    ['a: "\\0"', /^yaml contains a NUL character/],
    ['{[a]: c}', /^yaml has a key that is not text/],
    ['a: {<<: 1}', /^yaml has a merge key/]
  ]
  for (const [text, error] of cases) {
    const { errors } = parseConfig(text)
    t.equal(errors.length, 1, text)
    t.match(errors[0], error, text)
  }
})

t.test('a text that would cost too much is refused', async t => {
  const many = (count: number, line: (index: number) => string) =>
    Array.from({ length: count }, (_, i) => line(i)).join('')
  const jobs = many(1000, i => `j${i}: {script: x}\n`)
  t.strictSame(parseConfig(jobs).errors, [])
  const cases: Record<string, [text: string, error: RegExp]> = {
    'large text': [`# ${'x'.repeat(TEXT_LIMIT)}`, /^yaml is larger than 1048576 bytes/],
    'large text of few characters': [`# ${'€'.repeat(TEXT_LIMIT / 3)}`, /^yaml is larger/],
    'aliases of aliases': [
      many(
        12,
        i =>
          `.l${i}: &l${i} [${
            i
              ? Array(9)
                  .fill(`*l${i - 1}`)
                  .join(',')
              : 'x'
          }]\n`
      ),
      /aliases/
    ],
    'merges of merges': [
      `.a: &a {${many(400, i => `k${i}: 1,`)}}\n${many(490, i => `j${i}: {<<: *a, script: x}\n`)}`,
      /aliases are expanded/
    ],
    'inherited text': [
      `before_script: ["${'x'.repeat(20000)}"]\n${jobs}`,
      /^jobs are too large together with what they inherit/
    ],
    'nested lists': ['['.repeat(500_000), /^yaml is nested too deeply/],
    'nested blocks': ['- '.repeat(500_000), /^yaml is nested too deeply/],
    'many tokens': ['- a\n'.repeat(200_000), /^yaml is too long/],
    'stray commas': [`[${','.repeat(500_000)}`, /^yaml is not valid/],
    'stray anchors': ['&a '.repeat(300_000), /^yaml is not valid/],
    'stray closers': [']'.repeat(500_000), /^yaml is not valid/],
    'many jobs': [`${jobs}more: {script: x}`, /^jobs are 1001, more than 1000/],
    'many expressions': [`a: {script: x, only: [${many(201, i => `/${i}/,`)}]}`, /^jobs have 201 regular expressions/]
  }
  for (const [name, [text, error]] of Object.entries(cases)) t.match(parseConfig(text).errors[0], error, name)
  const wrong = parseConfig(`a: {script: x, ${many(200, i => `wrong${i}: 1,`)}}`).errors
  t.equal(wrong.length, 51)
  t.equal(wrong.at(-1), 'config has 150 more errors')
})

t.test('parseConfig throws for no text', async t => {
  const pieces = [
    'a',
    ':',
    ' ',
    '\n',
    '  ',
    '- ',
    '[',
    ']',
    '{',
    '}',
    ',',
    '!reference ',
    'extends: a',
    'needs: [a]',
    'rules: [{if: $A}]',
    'parallel: 3',
    '&x',
    '*x',
    '<<: *x',
    '"',
    "'",
    '|',
    '>',
    '#'
  ]
  pieces.push(
    'script: x',
    '!',
    '%',
    '?',
    '\t',
    '1',
    'yes',
    '~',
    '\u{1f600}',
    '\ud800',
    '/(/',
    'only:',
    'variables:',
    '---'
  )
  // A small generator with a fixed seed, so that a failure can be repeated.
  let seed = 42
  const next = (limit: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return Math.floor((seed / 2147483648) * limit)
  }
  for (let round = 0; round < 3000; round++) {
    const text = Array.from({ length: next(25) }, () => pieces[next(pieces.length)]).join('')
    const { config, errors } = parseConfig(text)
    if ((config === null) !== errors.length > 0) t.fail(`neither or both for ${JSON.stringify(text)}`)
  }
  t.pass('3000 texts')
})
