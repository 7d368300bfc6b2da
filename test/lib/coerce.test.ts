import { coerce, type InputSchema } from '../../src/lib/coerce.js'
import t from '../helpers/tap.js'

const integer: InputSchema = { type: 'integer' }
const number: InputSchema = { type: 'number' }
const boolean: InputSchema = { type: 'boolean' }
const text: InputSchema = { type: 'string' }
const list: InputSchema = { type: 'array', items: integer }
const levels: InputSchema = { enum: [0, 10, 20] }

const cases: [string, unknown, InputSchema, unknown][] = [
  ['digits', '42', integer, 42],
  ['a negative number', '-1', integer, -1],
  ['fifteen digits', '999999999999999', integer, 999999999999999],
  ['more digits stay text: a number would be inexact', '9999999999999999999', integer, '9999999999999999999'],
  ['a fraction', '1.5', integer, '1.5'],
  ['an exponent', '1e3', integer, '1e3'],
  ['a blank', '', integer, ''],
  ['surrounding blanks', ' 1 ', integer, ' 1 '],
  ['hexadecimal', '0x10', integer, '0x10'],
  ['a number for a number', 7, integer, 7],
  ['a fraction for a number', '1.5', number, 1.5],
  ['an empty text is not a number', '', number, ''],
  ['infinity is not a number', 'Infinity', number, 'Infinity'],
  ['a number of an enumeration', '10', levels, 10],
  ['a word for an enumeration of numbers', 'ten', levels, 'ten'],
  ['a number for a text', 5, text, '5'],
  ['a switch for a text', true, text, 'true'],
  ['a list for a text stays', ['a'], text, ['a']],
  ['an object for a text stays', { a: 1 }, text, { a: 1 }],
  ['a list of texts for numbers', ['1', 'x'], list, [1, 'x']],
  ['a single value for a list', '3', list, [3]],
  ['a single number for a list', 3, list, [3]],
  ['one blank item is an empty list', [''], list, []],
  ['two blank items stay two items', ['', ''], list, ['', '']],
  ['a single blank text is an item', '', list, ['']],
  ['an object for a list stays', { a: 1 }, list, { a: 1 }],
  ['1 for a switch', 1, boolean, true],
  ['0 for a switch', 0, boolean, false],
  ['2 for a switch', 2, boolean, 2],
  ['a word for a switch', 'maybe', boolean, 'maybe'],
  ...['true', 't', '1', 'on', 'yes', 'YES'].map(
    word => [word, word, boolean, true] as [string, unknown, InputSchema, unknown]
  ),
  ...['false', 'f', '0', 'off', 'no', ''].map(
    word => [word, word, boolean, false] as [string, unknown, InputSchema, unknown]
  )
]

t.test('values', async t => {
  for (const [what, value, schema, expected] of cases) t.same(coerce(value, schema), expected, what)
})

t.test('objects', async t => {
  const schema: InputSchema = {
    type: 'object',
    properties: {
      id: integer,
      name: text,
      note: { type: 'string', nullable: true },
      inner: { type: 'object', properties: { on: boolean } }
    }
  }
  t.same(coerce({ id: '1', name: 2, other: 'x' }, schema), { id: 1, name: '2' }, 'only declared keys stay')
  t.same(
    coerce({ name: null, note: null }, schema),
    { note: null },
    'null means not given, unless the schema allows null'
  )
  t.same(coerce({ inner: { on: 'yes', off: 1 } }, schema), { inner: { on: true } }, 'nested')
  t.same(coerce([], schema), [])
  t.equal(coerce('text', schema), 'text')
  t.equal(coerce(null, schema), null)
  const hostile = JSON.parse('{"__proto__":{"id":1},"constructor":1}')
  t.same(coerce(hostile, schema), {})
  t.same(coerce(Object.create({ id: 1 }), schema), {}, 'inherited keys are ignored')
})
