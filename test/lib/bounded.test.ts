import { mapBounded } from '../../src/lib/bounded.js'
import t from '../helpers/tap.js'

const turn = () => new Promise(resolve => setImmediate(resolve))

t.test('returns the results in the order of the items, with a limit on parallel work', async t => {
  let [running, most] = [0, 0]
  const results = await mapBounded([5, 1, 4, 2, 3], 2, async turns => {
    running += 1
    most = Math.max(most, running)
    for (let left = turns; left > 0; left--) await turn()
    running -= 1
    return turns * 10
  })
  t.same(results, [50, 10, 40, 20, 30])
  t.equal(most, 2)
  t.same(await mapBounded([], 3, async () => 1), [])
})

t.test('throws the first failure and starts no more items', async t => {
  const begun: number[] = []
  const work = async (item: number) => {
    begun.push(item)
    await turn()
    if (item === 2) throw new Error('two')
  }
  await t.rejects(mapBounded([1, 2, 3, 4, 5, 6], 2, work), { message: 'two' })
  await turn()
  await turn()
  t.ok(begun.length <= 3, begun.join())
})
