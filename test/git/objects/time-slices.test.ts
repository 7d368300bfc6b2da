// Long work in pieces, and other work that waits in the meantime.
import { setImmediate as turn } from 'node:timers/promises'
import { holdBytes } from '../../../src/git/objects/budget.js'
import { nextPiece } from '../../../src/git/objects/time-slices.js'
import { requestScope } from '../../../src/lib/request-scope.js'
import t from '../../helpers/tap.js'

const as = <T>(client: string, work: () => Promise<T>) => requestScope.run({ request: client, client }, work)

t.test('a turn of the loop has room for one piece, and clients take turns', async t => {
  const done: string[] = []
  const work = (client: string, name: string, pieces: number) =>
    as(client, async () => {
      for (let piece = 0; piece < pieces; piece++) await nextPiece()
      done.push(name)
    })
  const first = Array.from({ length: 50 }, (_, at) => work('192.0.2.1', `first ${at}`, 4))
  let turns = 0
  const other = work('192.0.2.2', 'other', 4)
  while (!done.includes('other')) {
    await turn()
    turns++
  }
  t.strictSame(done, ['other'], 'fifty others of one client need 200 pieces')
  t.ok(turns <= 12, `${turns} turns`)
  await Promise.all([...first, other])
  t.equal(done.length, 51)
})

t.test('a client that waits for memory is behind one waiter of each other client', async t => {
  const hold = 96 * 1024 * 1024
  const release = await holdBytes(hold)
  const order: string[] = []
  const wait = (client: string, name: string) =>
    as(client, async () => {
      const free = await holdBytes(hold)
      order.push(name)
      free()
    })
  const all = ['a1', 'a2', 'a3', 'b1'].map(name => wait(name.slice(0, 1), name))
  release()
  await Promise.all(all)
  t.strictSame(order, ['a1', 'b1', 'a2', 'a3'])
})
