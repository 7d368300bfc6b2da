import { setTimeout as sleep } from 'node:timers/promises'
import { TwoGenerations } from '../../src/lib/two-generations.js'
import t from '../helpers/tap.js'
import { until } from '../helpers/until.js'

const cacheOf = (most: number, idle = 60_000) =>
  new TwoGenerations<{ readonly size: number }>({ most: () => most, sizeOf: ({ size }) => size, idle })

t.test('entries that are used stay, and the others leave when the limit is reached', async t => {
  const cache = cacheOf(20)
  const used = { size: 1 }
  cache.set(0, used)
  for (let key = 1; key <= 100; key++) {
    cache.set(key, { size: 1 })
    if (cache.get(0) !== used) t.fail(`the used entry has left after ${key} others`)
  }
  const kept = Array.from({ length: 101 }, (_, key) => key).filter(key => cache.get(key))
  t.ok(kept.length <= 20, `${kept.length} entries are kept`)
  t.ok(kept.includes(100) && !kept.includes(50))
})

t.test('entries that nobody uses leave after a while', async t => {
  const cache = cacheOf(20, 2)
  cache.set(1, { size: 1 })
  await until('the entry has left', async () => {
    await sleep(10)
    return cache.get(1) === undefined
  })
  cache.set(1, { size: 1 })
  t.match(cache.get(1), { size: 1 }, 'the cache works as before')
})
