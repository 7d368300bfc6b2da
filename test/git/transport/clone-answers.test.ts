// Which answers to clones are kept.
import { buffer } from 'node:stream/consumers'
import { loadConfig } from '../../../src/config.js'
import { forgetAnswers, shareAnswer } from '../../../src/git/transport/clone-answers.js'
import { Spool } from '../../../src/git/transport/spool.js'
import t from '../../helpers/tap.js'

t.teardown(forgetAnswers)
loadConfig({ home: '/nonexistent' })

const MIB = 1024 * 1024
let started = 0

/** Requests a clone of a repository, whose answer has `bytes` bytes. */
async function clone(number: number, bytes: number): Promise<Buffer> {
  const request = { repository: `/${number}`, version: undefined, refs: [], request: Buffer.from('clone'), packs: '' }
  const { stream } = await shareAnswer(request, async () => {
    started++
    const answer = new Spool({ memory: MIB, keep: true })
    await answer.write(Buffer.alloc(bytes, number))
    setImmediate(() => answer.end())
    return answer
  })
  return await buffer(stream)
}

async function startsFor(numbers: Iterable<number>, bytes: number): Promise<number> {
  started = 0
  for (const number of numbers) t.equal((await clone(number, bytes)).at(0), number)
  return started
}

t.test('the answers of many small repositories are kept', async t => {
  const numbers = Array.from({ length: 200 }, (_, number) => number)
  t.equal(await startsFor(numbers, 1000), 200)
  t.equal(await startsFor(numbers, 1000), 0)
})

t.test('answers that fill their memory make the oldest ones leave', async t => {
  forgetAnswers()
  const numbers = Array.from({ length: 80 }, (_, number) => number)
  t.equal(await startsFor(numbers, MIB / 2), 80)
  t.equal(await startsFor(numbers.slice(16), MIB / 2), 0, '32 MiB are kept')
  t.equal(await startsFor(numbers.slice(0, 16), MIB / 2), 16)
})

t.test('clients that wait for an answer that is too large to keep share the next one', async t => {
  forgetAnswers()
  started = 0
  const request = { repository: '/large', version: undefined, refs: [], request: Buffer.from('clone'), packs: '' }
  const start = async () => {
    const answer = new Spool({ memory: MIB, keep: true, mostKept: started++ === 0 ? 1 : MIB })
    await answer.write(Buffer.from('answer'))
    setImmediate(() => answer.end())
    return answer
  }
  const clients = Array.from({ length: 5 }, async () => buffer((await shareAnswer(request, start)).stream))
  for (const answer of await Promise.all(clients)) t.equal(answer.toString(), 'answer')
  t.equal(started, 2)
})
