import { sharing } from '../../src/lib/single-flight.js'
import t from '../helpers/tap.js'

t.test('concurrent calls share a search', async t => {
  const searches: (readonly number[])[] = []
  const find = sharing(async (keys: readonly number[]) => {
    searches.push(keys)
    if (keys.includes(13)) throw new Error('unlucky')
    return new Map(keys.filter(key => key < 10).map(key => [key, `of ${key}`]))
  })
  t.strictSame(await Promise.all([find(1), find(2), find(1), find(11)]), ['of 1', 'of 2', 'of 1', undefined])
  t.strictSame(searches, [[1, 2, 11]])
  await Promise.all([t.rejects(find(13), /unlucky/), t.rejects(find(3), /unlucky/)])
  t.equal(await find(3), 'of 3', 'a failed search does not affect later ones')
  const many = Array.from({ length: 100 }, (_, at) => at + 20)
  await Promise.all(many.map(find))
  t.strictSame(
    searches.slice(-2).map(({ length }) => length),
    [64, 36],
    'a search has a limit'
  )
})
