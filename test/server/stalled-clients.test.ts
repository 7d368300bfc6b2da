// How long a client may stall: the clock of the test decides when the server looks.
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { config } from '../../src/config.js'
import { watch } from '../../src/server/stalled-clients.js'
import { testDatabase } from '../helpers/database.js'

await testDatabase()
const limit = config().git.stall * 1000

/** Watches a client. Returns functions that let it take bytes, and time pass, in stall limits. */
function watching(t: Test, ahead?: number) {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const state = { taken: 0, cut: false, waits: true }
  watch({
    bytes: () => state.taken,
    waits: () => state.waits,
    least: 1000,
    ...(ahead !== undefined && { ahead }),
    cut: () => {
      state.cut = true
    }
  })
  const pass = (limits: number) => mock.timers.tick(Math.round(limits * limit))
  return { state, pass }
}

t.test('a client that takes nothing is cut off', async t => {
  const { state, pass } = watching(t)
  pass(0.95)
  t.notOk(state.cut)
  pass(0.1)
  t.ok(state.cut)
})

t.test('a slow client that never stops is not', async t => {
  const { state, pass } = watching(t)
  for (let times = 0; times < 100; times++) {
    state.taken += 101
    pass(0.1)
  }
  t.notOk(state.cut)
  for (let times = 0; times < 20; times++) {
    state.taken += 40
    pass(0.1)
  }
  t.ok(state.cut, 'it is too slow now')
})

t.test('what a client has taken at once counts for a while', async t => {
  const { state, pass } = watching(t, 10)
  for (let times = 0; times < 5; times++) {
    state.taken += 9000
    pass(8.9)
  }
  t.notOk(state.cut)
  state.taken += 1_000_000
  pass(9.8)
  t.notOk(state.cut)
  pass(0.2)
  t.ok(state.cut, 'ten stall limits at most')
})

t.test('nobody is cut off while the server works', async t => {
  const { state, pass } = watching(t)
  state.waits = false
  pass(50)
  t.notOk(state.cut)
  state.waits = true
  pass(0.95)
  t.notOk(state.cut)
  pass(0.1)
  t.ok(state.cut)
})
