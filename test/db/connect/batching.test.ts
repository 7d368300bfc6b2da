// Work for several callers at once: who comes along with whom, and what becomes of the others when it fails for one.
import { setImmediate as turn } from 'node:timers/promises'
import { MOST_TOGETHER, together } from '../../../src/db/connect/batching.js'
import { scopes } from '../../../src/db/connect/scope.js'
import { Unavailable } from '../../../src/errors.js'
import t from '../../helpers/tap.js'

interface Trial {
  /** What each run of the work got. */
  readonly runs: (readonly number[])[]
  readonly ask: (key: string, item: number) => Promise<string>
}

/** Work that answers each item with its key. It fails with an item that `failure` names. */
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

t.test('who comes alone is served alone, and nothing is kept of it', async t => {
  const { runs, ask } = trial()
  t.equal(await ask('a', 1), 'a1')
  t.equal(await ask('a', 2), 'a2')
  t.same(runs, [[1], [2]])
})

t.test(
  'those who come together are served together, by numbers that are powers of two, each with its own answer',
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

t.test('at most so many are served at once, and those who come meanwhile are next', async t => {
  const { runs, ask } = trial()
  const first = upTo(MOST_TOGETHER + 3).map(item => ask('a', item))
  while (runs.length === 0) await turn()
  await Promise.all([...first, ask('a', -1)])
  t.same(
    runs.map(({ length }) => length),
    [MOST_TOGETHER, 4]
  )
})

t.test('another key is no company', async t => {
  const { runs, ask } = trial()
  t.same(await Promise.all([ask('a', 1), ask('b', 2)]), ['a1', 'b2'])
  t.same(runs, [[1], [2]])
})

t.test('nobody fails because of another', async t => {
  const { runs, ask } = trial(items => (items.includes(2) ? new RangeError('two') : undefined))
  const results = await Promise.allSettled(upTo(4).map(item => ask('a', item)))
  t.match(results, [{ value: 'a0' }, { value: 'a1' }, { reason: { message: 'two' } }, { value: 'a3' }])
  t.same(runs, [[0, 1, 2, 3], [0], [1], [2], [3]])
})

t.test('when the database is away it is so for all, and is not asked again', async t => {
  const { runs, ask } = trial(() => new Unavailable('away'))
  const results = await Promise.allSettled(upTo(4).map(item => ask('a', item)))
  t.ok(results.every(({ status }) => status === 'rejected'))
  t.equal(runs.length, 1)
  await t.rejects(ask('a', 1), Unavailable, 'the next is served again')
})

t.test('the transaction of a caller would not hold what others do', async t => {
  const { ask } = trial()
  await scopes.run({ transaction: {} as never, afterCommit: [] }, async () => {
    t.throws(() => ask('a', 1), { message: /transaction of its own/ })
  })
})
