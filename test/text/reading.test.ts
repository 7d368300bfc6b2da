// One client's long texts once stalled everybody: 190,000 characters take half a second.
import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { publicUrl } from '../../src/config.js'
import { Unavailable } from '../../src/errors.js'
import { requestScope } from '../../src/lib/request-scope.js'
import { readClosedIssues, readText, readTexts, readWithProject } from '../../src/text/reading.js'
import { parseText } from '../../src/text/references.js'

const LONG = '/close\n- @a #1 ~bug\n'.repeat(2000)

t.test('a long text is read like a short one, while others run', async t => {
  let turns = 0
  let isRead = false
  const reading = readText(LONG).finally(() => {
    isRead = true
  })
  while (!isRead) {
    await nextTurn()
    turns++
  }
  t.ok(turns > 2, `${turns} turns of the event loop`)
  t.strictSame(await reading, parseText(LONG, publicUrl()))
})

t.test('a long text is read once', async t => {
  const [first, second] = await Promise.all([readText(`${LONG} `), readText(`${LONG} `)])
  t.equal(first, second, 'the same result')
  t.equal(await readText(`${LONG} `), first)
  t.not(await readText(`${LONG} @b`), first)
  t.not(await readText(`${LONG} `, 'https://git.example.org'), first, 'URLs of another base')
})

t.test('many short texts together are long', async t => {
  const texts = Array.from({ length: 500 }, (_, at) => `fixes #${at + 1}, see @a`)
  t.same(
    (await readClosedIssues(texts)).map(({ name }) => Number(name)),
    texts.map((_, at) => at + 1)
  )
  t.same(
    (await readTexts(texts)).map(({ mentions }) => mentions),
    texts.map(() => ['a'])
  )
  t.same(
    await readWithProject(texts, 'a/b'),
    texts.map((_, at) => `fixes a/b#${at + 1}, see @a`)
  )
})

t.test('too many long texts are refused', async t => {
  const many = Array.from({ length: 300 }, (_, at) => readText(`${'@a '.repeat(1500)}${at}`))
  const ends = await Promise.allSettled(many)
  const refused = ends.flatMap(end => (end.status === 'rejected' ? [end.reason] : []))
  t.equal(refused.length, 300 - 201, 'one is read, and 200 wait')
  t.type(refused[0], Unavailable)
  t.match(await readText(`${'@a '.repeat(1500)}299`), { mentions: ['a'] }, 'a refusal is not remembered')
})

t.test('a text that was refused for one client is read for the others', async t => {
  const as = (client: string) => requestScope.run({ request: client, client }, () => readText(`${LONG} refused`))
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  // It takes longer than this test lets the clock run.
  const hung = t.rejects(readText('/close\n- @a #1 ~bug\n'.repeat(20_000)), { message: /takes too long/ })
  const refused = t.rejects(as('192.0.2.1'), { message: /Too many long texts/ })
  mock.timers.tick(15_000)
  const later = [as('192.0.2.1'), as('192.0.2.1'), as('192.0.2.2')]
  mock.timers.tick(5000)
  await Promise.all([hung, refused])
  for (const { mentions } of await Promise.all(later)) t.same(mentions, ['a'])
})
