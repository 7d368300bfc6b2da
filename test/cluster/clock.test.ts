// Story: a command began just after a machine had died, and warned of clocks that differ, although all machines had the same one.
import { isClockSteady, SeenLeases } from '../../src/cluster/clock.js'
import { log } from '../../src/log.js'
import t from '../helpers/tap.js'

const warnings = t.capture(log(), 'warn')
const lease = (end: number) => ({ key: 'beta', end: new Date(end), ended: true, isOld: false })

t.test(
  'a lease that has ended before the first look may have been given by another clock: nothing is taken over',
  async t => {
    t.ok(isClockSteady(1000))
    const seen = new SeenLeases()
    seen.note([lease(1000)])
    t.notOk(isClockSteady(1000))
    t.equal(warnings().length, 0)
    t.test('it was, when somebody has renewed it and it has still ended', async t => {
      seen.note([lease(1000)])
      t.equal(warnings().length, 0)
      // The first look counts as a jump for a minute.
      const real = performance.now
      t.teardown(() => {
        performance.now = real
      })
      performance.now = () => real.call(performance) + 70_000
      seen.note([lease(2000)])
      t.match(warnings(), [{ args: [/another clock/] }])
    })
  }
)
