// Work for several callers at once: which callers are served together, and what happens to the others when it fails for
// one.
import { setImmediate as turn } from 'node:timers/promises'
import { MOST_TOGETHER, together } from '../../../src/db/connect/batching.js'
import { scopes } from '../../../src/db/connect/scope.js'
import { Unavailable } from '../../../src/errors.js'
import t from '../../helpers/tap.js'

interface Trial {
  /** The items of each run of the work. */
  readonly runs: (readonly number[])[]
  readonly ask: (key: string, item: number) => Promise<string>
}

/** Returns work that answers each item with its key. It fails for items for which `failure` returns an error. */
function trial(failure: (items: readonly number[]) => Error | undefined = () => undefined): Trial {
  const runs: (readonly number[])[] = []
  const ask = together<string, number, string>(async (items, key) => {
    runs.push(items)
    await turn()
    const error = failure(items)
    if (error) throw error
    return items.map(item => `${key}${item}`)
  })
  return { runs, ask }
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at)

t.test('a single caller is served on its own, and nothing remains afterwards', async t => {
  const { runs, ask } = trial()
  t.equal(await ask('a', 1), 'a1')
  t.equal(await ask('a', 2), 'a2')
  t.same(runs, [[1], [2]])
})

t.test(
  'callers that arrive together are served together, in groups of a power of two, each with its own answer',
  async t => {
    const { runs, ask } = trial()
    t.same(
      await Promise.all(upTo(11).map(item => ask('a', item))),
      upTo(11).map(item => `a${item}`)
    )
    t.same(
      runs.map(({ length }) => length),
      [8, 2, 1]
    )
  }
)

t.test('at most MOST_TOGETHER callers are served at once, and later callers are next', async t => {
  const { runs, ask } = trial()
  const first = upTo(MOST_TOGETHER + 3).map(item => ask('a', item))
  while (runs.length === 0) await turn()
  await Promise.all([...first, ask('a', -1)])
  t.same(
    runs.map(({ length }) => length),
    [MOST_TOGETHER, 4]
  )
})

t.test('callers with another key are served separately', async t => {
  const { runs, ask } = trial()
  t.same(await Promise.all([ask('a', 1), ask('b', 2)]), ['a1', 'b2'])
  t.same(runs, [[1], [2]])
})

t.test('no caller fails because of another', async t => {
  const { runs, ask } = trial(items => (items.includes(2) ? new RangeError('two') : undefined))
  const results = await Promise.allSettled(upTo(4).map(item => ask('a', item)))
  t.match(results, [{ value: 'a0' }, { value: 'a1' }, { reason: { message: 'two' } }, { value: 'a3' }])
  t.same(runs, [[0, 1, 2, 3], [0], [1], [2], [3]])
})

t.test('when the database is away, all callers fail, and it is not asked again', async t => {
  const { runs, ask } = trial(() => new Unavailable('away'))
  const results = await Promise.allSettled(upTo(4).map(item => ask('a', item)))
  t.ok(results.every(({ status }) => status === 'rejected'))
  t.equal(runs.length, 1)
  await t.rejects(ask('a', 1), Unavailable, 'the next caller is served again')
})

t.test('callers must not be in a transaction', async t => {
  const { ask } = trial()
  await scopes.run({ transaction: {} as never, afterCommit: [] }, async () => {
    t.throws(() => ask('a', 1), { message: /must not run inside a transaction/ })
  })
})
