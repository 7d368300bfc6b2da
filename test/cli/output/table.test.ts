import { table } from '../../../src/cli/output/table.js'
import t from '../../helpers/tap.js'

const columns = [
  ['NAME', (row: { name: string }) => row.name],
  ['ADMIN', () => true],
  ['SINCE', () => new Date(0)],
  ['NOTE', () => null]
] as const

t.test('columns are as wide as their longest cell, and no line ends in spaces', async t => {
  t.equal(
    table([{ name: 'ada' }, { name: 'charles' }], columns),
    [
      'NAME     ADMIN  SINCE                 NOTE',
      'ada      yes    1970-01-01T00:00:00Z  -',
      'charles  yes    1970-01-01T00:00:00Z  -'
    ].join('\n')
  )
})

t.test('control characters in text from users do not reach the terminal', async t => {
  t.match(table([{ name: 'a\u001b[2Jb\nc\u202e' }], columns), 'a?[2Jb?c?')
})

t.test('a table without rows is printed as none', async t => {
  t.equal(table([], columns), 'none')
})
