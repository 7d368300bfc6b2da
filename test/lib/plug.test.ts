import { AsyncLocalStorage } from 'node:async_hooks'
import { lazily } from '../../src/lib/plug.js'
import t from '../helpers/tap.js'

t.test('a part is loaded once, and outside of the transaction or request of its first caller', async t => {
  const surroundings = new AsyncLocalStorage<string>()
  let times = 0
  const part = lazily(async () => {
    times += 1
    await Promise.resolve()
    return surroundings.getStore() ?? 'none'
  })
  t.equal(await surroundings.run('a transaction', part), 'none')
  t.equal(await surroundings.run('another', part), 'none')
  t.equal(times, 1)
})
