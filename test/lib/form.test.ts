import { addPair, type Form, hasMorePairs, parseForm } from '../../src/lib/form.js'
import t from '../helpers/tap.js'

const cases: [string, object][] = [
  ['', {}],
  ['&&', {}],
  ['a=1', { a: '1' }],
  ['a=1&b=2', { a: '1', b: '2' }],
  ['a=1&a=2', { a: '2' }],
  ['a', { a: '' }],
  ['a=', { a: '' }],
  ['=b', { '': 'b' }],
  ['a=b=c', { a: 'b=c' }],
  ['a[]=1&a[]=2', { a: ['1', '2'] }],
  ['a%5B%5D=1&a%5b%5d=2', { a: ['1', '2'] }],
  ['a[x]=1&a[y]=2', { a: { x: '1', y: '2' } }],
  ['a[x][y]=1', { a: { 'x][y': '1' } }],
  ['a[][x]=1&a[][y]=2&a[][x]=3', { a: [{ x: '1', y: '2' }, { x: '3' }] }],
  ['a%5B%5D%5Bx%5D=1&b[][x]=2', { a: [{ x: '1' }], b: [{ x: '2' }] }],
  ['a[]=1&a[][x]=2', { a: ['1', { x: '2' }] }],
  ['a=1&a[]=2', { a: ['2'] }],
  ['a[]=1&a[x]=2', { a: { x: '2' } }],
  ['a[=1&b]=2&[]=3', { 'a[': '1', 'b]': '2', '[]': '3' }],
  ['a+b=c+d', { 'a b': 'c d' }],
  ['a=%2B%26%3D', { a: '+&=' }],
  ['a=gr%C3%BC%C3%9Fe', { a: 'grüße' }],
  ['a=%ff', { a: '%ff' }],
  ['a=%', { a: '%' }],
  ['a=%00', { a: '\0' }]
]

t.test('parseForm', async t => {
  for (const [text, expected] of cases) {
    const form = parseForm(text)
    t.same(JSON.parse(JSON.stringify(form)), expected, text)
    t.equal(Object.getPrototypeOf(form), null, 'has no prototype')
  }
})

t.test('names that every object inherits are plain keys', async t => {
  const form = parseForm('__proto__=1&constructor=2&toString[]=3&a[__proto__]=4&b[][__proto__]=5')
  t.same(Object.keys(form).sort(), ['__proto__', 'a', 'b', 'constructor', 'toString'])
  t.equal(({} as { polluted?: unknown }).polluted, undefined)
  t.same(form.toString, ['3'])
})

t.test('reads at most a thousand pairs', async t => {
  const text = Array.from({ length: 5000 }, (_, at) => `k${at}=1`).join('&')
  t.equal(Object.keys(parseForm(text)).length, 1000)
  t.equal(hasMorePairs(text), true)
  t.equal(hasMorePairs('a=1&b=2'), false)
})

t.test('addPair adds to existing values', async t => {
  const form: Form = parseForm('a[]=1')
  addPair(form, 'a[]', '2')
  addPair(form, 'b', '3')
  t.same({ ...form }, { a: ['1', '2'], b: '3' })
})
