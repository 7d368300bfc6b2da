// When a worker looks for jobs that nobody woke it for, with a fake clock.
import { mock } from 'node:test'
import { execute } from '../../src/db/connect/sql.js'
import { enqueue } from '../../src/queue/enqueue.js'
import { Lookout } from '../../src/worker/lookout.js'
import { testDatabase } from '../helpers/database.js'
import { eventJob } from '../helpers/published.js'
import { countStatements } from '../helpers/statements.js'
import t, { type Test } from '../helpers/tap.js'

await testDatabase()
const LEAST = 500
const MOST = 5000

t.beforeEach(() => execute('delete from jobs'))

/** Starts a lookout. `pass` lets time pass, and returns after how many milliseconds it looked. */
function subject(t: Test, most = MOST) {
  mock.timers.enable({ apis: ['setTimeout'] })
  const woken = { wakes: 0, polls: 0 }
  const loop = { wake: () => void woken.wakes++, poll: () => void woken.polls++ }
  const lookout = new Lookout({ loops: new Map([['default', loop]]), least: LEAST, most })
  t.teardown(() => {
    mock.timers.reset()
    return lookout.stop()
  })
  const pass = async (milliseconds: number) => {
    const looks: number[] = []
    for (let passed = 100; passed <= milliseconds; passed += 100) {
      const statements = await countStatements(async () => {
        mock.timers.tick(100)
        await lookout.looking
      })
      if (statements > 0) looks.push(passed)
    }
    return looks
  }
  return { lookout, woken, pass }
}

t.test('an idle worker looks less and less often, and often again after a sign of work', async t => {
  const { lookout, pass } = subject(t)
  t.same(await pass(20_000), [500, 1500, 3500, 7500, 12_500, 17_500])
  lookout.soon()
  t.same(await pass(4000), [500, 1500, 3500])
})

t.test('where other machines may add jobs, it looks as often as before', async t => {
  const { pass } = subject(t, LEAST)
  t.same(await pass(3000), [500, 1000, 1500, 2000, 2500, 3000])
})

t.test('an idle worker finds a ready job, and a delayed one when it is due', async t => {
  const { woken, pass } = subject(t)
  await pass(8000)
  await enqueue('event.published', eventJob('a'))
  await pass(5000)
  t.same(woken, { wakes: 0, polls: 1 })
  await execute('delete from jobs')
  await enqueue('event.published', eventJob('b'), { runAt: new Date(Date.now() + 600_000) })
  await execute("update jobs set run_at = now(3) + interval 2 second where state = 'delayed'")
  const [first = 0, second = 0] = await pass(8000)
  t.ok(second - first <= 2000, `the look ${second - first} ms later finds it`)
})
