import { FairLine } from '../../src/lib/fair-line.js'
import t from '../helpers/tap.js'

t.test('clients take turns', async t => {
  const line = new FairLine<string>()
  t.equal(line.take(), undefined)
  for (const waiter of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) line.add(waiter.slice(0, 1), waiter)
  t.equal(line.length, 6)
  t.strictSame([line.lengthOf('a'), line.lengthOf('d')], [3, 0])
  t.equal(line.next, 'a1')
  t.strictSame([line.take(), line.take()], ['a1', 'b1'])
  line.add('d', 'd1')
  const rest: (string | undefined)[] = []
  while (line.length > 0) rest.push(line.take())
  t.strictSame(rest, ['c1', 'a2', 'b2', 'd1', 'a3'])
  t.equal(line.next, undefined)
})
