import { requestScope } from '../../src/lib/request-scope.js'
import { onThread } from '../../src/lib/threads.js'
import t from '../helpers/tap.js'

t.test('two calculations run at once, and clients take turns', async t => {
  let running = 0
  let most = 0
  const order: string[] = []
  const calculate = (name: string) => {
    const client = name.slice(0, 1)
    return requestScope.run({ request: name, client }, () =>
      onThread(async () => {
        running++
        most = Math.max(most, running)
        order.push(name)
        await new Promise(resolve => setImmediate(resolve))
        running--
        if (name === 'a2') throw new RangeError('no')
        return name
      })
    )
  }
  const names = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1']
  const ends = await Promise.allSettled(names.map(calculate))
  t.strictSame(order, ['a1', 'a2', 'a3', 'b1', 'a4', 'a5'])
  t.equal(most, 2)
  t.strictSame(
    ends.map(end => (end.status === 'fulfilled' ? end.value : end.reason.message)),
    ['a1', 'no', 'a3', 'a4', 'a5', 'b1'],
    'a failed calculation frees its place'
  )
})
