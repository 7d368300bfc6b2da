// Tests the limiter with each of its options. The tests of the modules that use it check their own limits.
import { Limiter, type LimiterRequest, type Release } from '../../src/lib/limiter.js'
import t from '../helpers/tap.js'

const tick = () => new Promise(resolve => setImmediate(resolve))

/**
 * Requests one unit for each name, whose first letter is the client. Records which requests have begun, and how to end
 * them.
 */
function crowd(limiter: Limiter) {
  const begun: string[] = []
  const releases = new Map<string, Release>()
  const come = (name: string, request: LimiterRequest = {}) =>
    limiter.acquire({ client: name.slice(0, 1), ...request }).then(release => {
      begun.push(name)
      releases.set(name, release)
    })
  const end = async (name: string) => {
    releases.get(name)?.()
    await tick()
  }
  return { begun, come, end }
}

t.test('capacity: as many requests run as there are units, and clients take turns', async t => {
  const limiter = new Limiter({ capacity: 2 })
  const { begun, come, end } = crowd(limiter)
  const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map(name => come(name))
  await tick()
  t.strictSame([begun, limiter.held, limiter.queued], [['a1', 'a2'], 2, 3])
  await end('a1')
  await end('a2')
  t.strictSame(begun, ['a1', 'a2', 'a3', 'b1'])
  await end('a3')
  await Promise.all(all)
  for (const name of ['b1', 'a4']) await end(name)
  t.strictSame([begun.at(-1), limiter.held, limiter.queued], ['a4', 0, 0])
})

t.test('capacity: a function is called each time', async t => {
  let capacity = 1
  const limiter = new Limiter({ capacity: () => capacity })
  t.ok(limiter.tryAcquire({}))
  t.notOk(limiter.tryAcquire({}))
  capacity = 2
  t.ok(limiter.tryAcquire({}))
})

t.test('release: a second call does nothing', async t => {
  const limiter = new Limiter({ capacity: 2 })
  const release = await limiter.acquire({})
  const other = await limiter.acquire({})
  release()
  release()
  t.equal(limiter.held, 1)
  other()
  t.equal(limiter.held, 0)
})

t.test('cost: cheap requests do not overtake an expensive one, and a single one may exceed the capacity', async t => {
  const limiter = new Limiter({ capacity: 10 })
  const { begun, come, end } = crowd(limiter)
  const all = [come('a1', { cost: 6 }), come('b1', { cost: 20 }), come('c1', { cost: 1 })]
  await tick()
  t.strictSame([begun, limiter.held], [['a1'], 6])
  await end('a1')
  t.strictSame([begun, limiter.held], [['a1', 'b1'], 20])
  await end('b1')
  await Promise.all(all)
  t.strictSame([begun, limiter.held], [['a1', 'b1', 'c1'], 1])
})

t.test('perClient: a client has a share, and does not make others wait', async t => {
  const limiter = new Limiter({ capacity: 3, perClient: 2 })
  const { begun, come, end } = crowd(limiter)
  const all = ['a1', 'a2', 'a3', 'b1', 'b2'].map(name => come(name))
  await tick()
  t.strictSame([begun, limiter.heldBy('a')], [['a1', 'a2', 'b1'], 2])
  await end('b1')
  t.strictSame(begun.at(-1), 'b2', 'although a3 came before')
  await end('b2')
  t.equal(begun.length, 4)
  t.ok(limiter.tryAcquire({ client: 'c' }), 'a new client overtakes one that waits for its own share')
  await end('a1')
  await Promise.all(all)
  t.equal(limiter.heldBy('b'), 0)
})

t.test('perClient: requests without a client have no limit', async t => {
  const limiter = new Limiter({ perClient: 1 })
  t.ok(limiter.tryAcquire({}))
  t.ok(limiter.tryAcquire({}))
  t.ok(limiter.tryAcquire({ client: 'a' }))
  t.notOk(limiter.tryAcquire({ client: 'a' }))
})

t.test('quotas: a request counts for each of its keys', async t => {
  interface Call extends LimiterRequest {
    readonly tags: readonly string[]
  }
  const limiter = new Limiter<Call>({ quotas: ({ tags }) => tags.map(tag => [tag, tag === 'rare' ? 1 : 2] as const) })
  const release = limiter.tryAcquire({ tags: ['rare', 'red'] })
  t.notOk(limiter.tryAcquire({ tags: ['rare'] }))
  t.ok(limiter.tryAcquire({ tags: ['red'] }))
  t.notOk(limiter.tryAcquire({ tags: ['red'] }))
  const [rare, red] = [{ tags: ['rare'] }, { tags: ['red'] }]
  t.strictSame([limiter.wouldStart(rare, red), limiter.wouldStart(red, red)], [false, true])
  t.equal(limiter.heldBy('red'), 2, 'a check changes nothing')
  release?.()
  t.strictSame([limiter.heldBy('rare'), limiter.heldBy('red')], [0, 1])
})

t.test('order: the best of the requests that may start is next, otherwise the first', async t => {
  const ranks: Record<string, number> = { a: 3, b: 1, c: 2, d: 1 }
  const rank = ({ client = '' }: LimiterRequest) => ranks[client] ?? 0
  const { begun, come, end } = crowd(new Limiter({ capacity: 1, order: (a, b) => rank(a) - rank(b) }))
  const all = ['a1', 'a2', 'c1', 'b1', 'd1'].map(name => come(name))
  for (const name of ['a1', 'b1', 'd1', 'c1', 'a2']) {
    await tick()
    await end(name)
  }
  await Promise.all(all)
  t.strictSame(begun, ['a1', 'b1', 'd1', 'c1', 'a2'])
})

t.test('queue: it has a number of places, and a client gets some of them', async t => {
  const full = (limit: string) => new RangeError(limit)
  const limiter = new Limiter({ capacity: 1, queue: { capacity: 4, perClient: free => free, full } })
  const { come, end } = crowd(limiter)
  const all = ['a1', 'a2', 'a3'].map(name => come(name))
  await t.rejects(come('a4'), { message: 'perClient' })
  all.push(come('b1'), come(''))
  await t.rejects(come(''), { message: 'capacity' })
  t.equal(limiter.queued, 4)
  for (const name of ['a1', 'a2', 'b1', '', 'a3']) {
    await tick()
    await end(name)
  }
  await Promise.all(all)
  t.strictSame([limiter.held, limiter.queued], [0, 0])
})

t.test('patience: a request that has waited too long fails, and its place in the queue is free', async t => {
  const over = (since: number) => new RangeError(`since ${typeof since}`)
  const limiter = new Limiter({ capacity: 1, patience: { milliseconds: () => 20, over } })
  const release = await limiter.acquire({})
  await t.rejects(limiter.acquire({}), { message: 'since number' })
  t.equal(limiter.queued, 0)
  release()
  ;(await limiter.acquire({}))()
  t.equal(limiter.held, 0)
})

t.test('signal: ends the wait, and lets the requests behind start', async t => {
  const limiter = new Limiter({ capacity: 2 })
  const held = await limiter.acquire({})
  const leaving = new AbortController()
  const large = limiter.acquire({ cost: 2, signal: leaving.signal })
  const small = limiter.acquire({})
  leaving.abort(new RangeError('gone'))
  await t.rejects(large, { message: 'gone' })
  ;(await small)()
  await t.rejects(limiter.acquire({ signal: leaving.signal }), { message: 'gone' })
  await t.rejects(
    limiter.run({ signal: leaving.signal }, () => 'never'),
    { message: 'gone' }
  )
  held()
  t.strictSame([limiter.held, limiter.queued], [0, 0])
})

t.test('onWait: is called for requests that wait', async t => {
  const waiting: (string | undefined)[] = []
  const limiter = new Limiter({ capacity: 1, onWait: ({ client }) => waiting.push(client) })
  const release = await limiter.acquire({ client: 'a' })
  const next = limiter.acquire({ client: 'b' })
  t.strictSame(waiting, ['b'])
  release()
  ;(await next)()
})

t.test('run: begins at once when it can, and a failure releases the units', async t => {
  const limiter = new Limiter({ capacity: 1 })
  let isBegun = false
  const failing = limiter.run({}, async () => {
    isBegun = true
    throw new RangeError('no')
  })
  t.ok(isBegun)
  t.equal(await limiter.run({}, () => 'next').catch(() => undefined), 'next')
  await t.rejects(failing, { message: 'no' })
  t.equal(limiter.held, 0)
})
