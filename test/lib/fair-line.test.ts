import { FairLine } from '../../src/lib/fair-line.js'
import t from '../helpers/tap.js'

const clientOf = (waiter: string) => waiter.slice(0, 1)

function lineOf(...waiters: string[]): FairLine<string> {
  const line = new FairLine<string>()
  for (const waiter of waiters) line.add(clientOf(waiter), waiter)
  return line
}

function next(line: FairLine<string>): string | undefined {
  for (const waiter of line.heads()) {
    line.take(clientOf(waiter), waiter)
    return waiter
  }
  return undefined
}

t.test('clients take turns', async t => {
  const line = lineOf('a1', 'a2', 'a3', 'b1', 'c1', 'b2')
  t.equal(line.length, 6)
  t.strictSame([line.lengthOf('a'), line.lengthOf('d')], [3, 0])
  t.strictSame([...line.heads()], ['a1', 'b1', 'c1'])
  t.strictSame([next(line), next(line)], ['a1', 'b1'])
  line.add('d', 'd1')
  const rest: (string | undefined)[] = []
  while (line.length > 0) rest.push(next(line))
  t.strictSame(rest, ['c1', 'a2', 'b2', 'd1', 'a3'])
  t.equal(next(line), undefined)
})

t.test('a client keeps its turn when one of its waiters gives up', async t => {
  const line = lineOf('a1', 'a2', 'b1')
  t.equal(line.remove('a', 'a1'), true)
  t.equal(line.remove('a', 'a1'), false)
  t.equal(line.remove('b', 'b1'), true)
  t.strictSame([[...line], line.length, line.lengthOf('b')], [['a2'], 1, 0])
})
