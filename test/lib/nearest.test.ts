import { nearest } from '../../src/lib/nearest.js'
import t from '../helpers/tap.js'

t.test('finds the name that is meant', async t => {
  const names = ['users create', 'users delete', 'jobs top', 'status', 'stop']
  for (const [word, name] of [
    ['users crate', 'users create'],
    ['user create', 'users create'],
    ['sattus', 'status'],
    ['stpo', 'stop'],
    ['stop', 'stop'],
    ['frobnicate', undefined],
    ['x', undefined],
    ['', undefined]
  ] as const) {
    t.equal(nearest(word, names), name, word)
  }
  t.equal(nearest('stop', []), undefined)
})
