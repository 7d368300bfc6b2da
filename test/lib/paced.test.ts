import { paced } from '../../src/lib/paced.js'
import t from '../helpers/tap.js'

/** A reading that takes `takes` ms by a clock of its own. */
function slow(takes: number) {
  const state = { now: 0, reads: 0, fails: false }
  const read = async () => {
    state.now += takes
    if (state.fails) throw new Error('away')
    return ++state.reads
  }
  return { state, ask: paced(read, { share: 0.01, least: 50 }, () => state.now) }
}

t.test('a value is kept for as long as its reading allows', async t => {
  const { state, ask } = slow(10)
  t.equal(await ask(), 1)
  state.now += 999
  t.equal(await ask(), 1)
  state.now += 1
  t.equal(await ask(), 1, 'nobody waits for the next reading')
  await Promise.resolve()
  t.equal(await ask(), 2)
})

t.test('callers at the same time share one reading', async t => {
  const { state, ask } = slow(1)
  t.same(await Promise.all([ask(), ask(), ask()]), [1, 1, 1])
  t.equal(state.reads, 1)
})

t.test('a failure is for those who have no value, and the next caller tries again', async t => {
  const { state, ask } = slow(1)
  state.fails = true
  await t.rejects(ask(), { message: 'away' })
  state.fails = false
  t.equal(await ask(), 1)
  state.fails = true
  state.now += 1000
  t.equal(await ask(), 1, 'the last value stays')
})
