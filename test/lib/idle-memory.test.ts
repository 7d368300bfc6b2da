import t from 'tap'
import { collectWhenIdle } from '../../src/lib/idle-memory.js'
import { until } from '../helpers/until.js'

const MIB = 1024 * 1024

t.test('the memory of a burst is returned when the process is idle', async t => {
  let size = 100 * MIB
  let collected = 0
  let looks = 0
  const collect = () => {
    collected++
    size = 110 * MIB
  }
  const rss = () => {
    looks++
    return size
  }
  t.teardown(collectWhenIdle(collect, { rss, every: 1 }))
  const looked = async () => {
    const from = looks
    await until('it has checked', () => looks > from + 10)
  }
  await looked()
  t.equal(collected, 0, 'nothing has grown')
  size = 140 * MIB
  await looked()
  t.equal(collected, 0, 'a little growth is ignored')
  size = 400 * MIB
  await until('it is collected', () => collected === 1)
  await looked()
  t.equal(collected, 1, 'enough came back')
})

t.test('the garbage of a start is collected', async t => {
  let collected = 0
  t.teardown(collectWhenIdle(() => void collected++, { rss: () => 100 * MIB, every: 1, least: 0 }))
  await until('it is collected', () => collected === 2)
})

t.test('the memory of unused buffers is freed', async t => {
  const hold = { buffers: [] as Buffer[] }
  t.teardown(collectWhenIdle(undefined, { rss: () => process.memoryUsage().external, every: 20 }))
  hold.buffers = Array.from({ length: 100 }, () => Buffer.alloc(MIB, 1))
  const full = process.memoryUsage().external
  hold.buffers = []
  await until('they are gone', () => process.memoryUsage().external < full - 80 * MIB)
  t.equal(hold.buffers.length, 0)
})
