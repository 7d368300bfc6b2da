import { paced } from '../../src/lib/paced.js'
import t from '../helpers/tap.js'

/** Returns a read that takes `takes` ms on a simulated clock. */
function slow(takes: number) {
  const state = { now: 0, reads: 0, fails: false }
  const read = async () => {
    state.now += takes
    if (state.fails) throw new Error('away')
    return ++state.reads
  }
  return { state, ask: paced(read, { share: 0.01, least: 50 }, () => state.now) }
}

t.test('a value is kept in proportion to the duration of its read', async t => {
  const { state, ask } = slow(10)
  t.equal(await ask(), 1)
  state.now += 999
  t.equal(await ask(), 1)
  state.now += 1
  t.equal(await ask(), 1, 'nobody waits for the next read')
  await Promise.resolve()
  t.equal(await ask(), 2)
})

t.test('concurrent callers share one read', async t => {
  const { state, ask } = slow(1)
  t.same(await Promise.all([ask(), ask(), ask()]), [1, 1, 1])
  t.equal(state.reads, 1)
})

t.test('a failure only reaches callers without a value, and the next caller tries again', async t => {
  const { state, ask } = slow(1)
  state.fails = true
  await t.rejects(ask(), { message: 'away' })
  state.fails = false
  t.equal(await ask(), 1)
  state.fails = true
  state.now += 1000
  t.equal(await ask(), 1, 'the last value stays')
})
