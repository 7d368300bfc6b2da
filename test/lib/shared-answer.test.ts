import { sharedAnswer } from '../../src/lib/shared-answer.js'
import t from '../helpers/tap.js'

t.test('those who ask at the same time share an answer, and a failure; later ones ask anew', async t => {
  let asked = 0
  const ask = sharedAnswer(async (key: string) => {
    asked += 1
    await Promise.resolve()
    if (key === 'bad') throw new Error('no')
    return `${key} ${asked}`
  })
  t.same(await Promise.all([ask('a'), ask('a'), ask('b')]), ['a 2', 'a 2', 'b 2'])
  t.equal(await ask('a'), 'a 3')
  const [one, other] = await Promise.allSettled([ask('bad'), ask('bad')])
  t.same([one.status, other.status, asked], ['rejected', 'rejected', 4])
})
