import { inTurn } from '../../../../../src/areas/ci/pipelines/planning/lint-turns.js'
import { requestScope } from '../../../../../src/lib/request-scope.js'
import t from '../../../../helpers/tap.js'

const turnOf = <T>(client: string, check: () => T) => requestScope.run({ request: 'r', client }, () => inTurn(check))

t.test('clients take turns, and each has few places in the line', async t => {
  const done: string[] = []
  const check = (client: string, name: string) => turnOf(client, () => done.push(name))
  const first = check('192.0.2.1', 'a1')
  t.same(done, ['a1'], 'nobody waits while nothing runs')
  const many = [2, 3, 4, 5, 6].map(at => check('192.0.2.1', `a${at}`))
  await t.rejects(check('192.0.2.1', 'a7'), { name: 'TooManyRequests', retryAfter: 5 })
  const others = [check('192.0.2.2', 'b1'), check('192.0.2.3', 'c1'), check('192.0.2.3', 'c2')]
  await Promise.all([first, ...many, ...others])
  t.same(done, ['a1', 'a2', 'b1', 'c1', 'a3', 'c2', 'a4', 'a5', 'a6'])
})

t.test('a check that fails does not stop the ones after it', async t => {
  const failing = turnOf('192.0.2.1', () => {
    throw new Error('no')
  })
  const next = turnOf('192.0.2.1', () => 'next')
  await t.rejects(failing, { message: 'no' })
  t.equal(await next, 'next')
})

t.test('all clients together have a limit', async t => {
  const checks = Array.from({ length: 105 }, (_, at) => turnOf(`192.0.2.${at}`, () => at))
  const results = await Promise.allSettled(checks)
  const refused = results.filter(({ status }) => status === 'rejected')
  t.match(refused.at(-1), { reason: { name: 'Unavailable' } })
  t.ok(refused.length > 0 && refused.length < 10)
})
