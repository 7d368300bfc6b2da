import { held } from '../../../../src/areas/migrate/sources/held.js'
import t from '../../../helpers/tap.js'

t.test('a list in memory has a limit of characters, and the rest is reported', async t => {
  async function* texts(count: number, length: number) {
    for (let at = 0; at < count; at++) yield 'x'.repeat(length)
  }
  const reported: string[] = []
  const skipped = (what: string, why: string) => void reported.push(`${what}: ${why}`)
  t.equal((await held(texts(20, 1_000_000), { what: 'notes', skipped })).length, 15)
  t.equal(reported.length, 5)
  t.equal(reported[0], 'notes: one list has more than 100000 of them, or more than 16000000 characters')
  t.equal((await held(texts(100_002, 1), { what: 'notes', skipped })).length, 100_000)
  t.equal(reported.length, 7)
})
