// Long polling: what a stock runner gets whose question stays open, and what else it does not hold up.
import { request as send } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { config, loadConfig } from '../../../../src/config.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { prepareHome } from '../../../../src/home.js'
import { buildApp } from '../../../../src/server/app.js'
import { testApp } from '../../../helpers/app.js'
import { factory } from '../../../helpers/factory.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { makePipeline } from '../builds/make-builds.js'
import { register, request, speak } from './stock-runner.js'

const app = await testApp(t)
prepareHome()
const { home } = config()
const CI = 'test: { script: [make test] }\n'
const ARM = 'a: { script: x, tags: [arm] }\n'

t.beforeEach(() => execute("update builds set status = 'canceled' where status in ('pending', 'running')"))

/** For a test that waits until a question has no more time. */
function shorten(t: { teardown(fn: () => void): void }, http: object = {}): void {
  loadConfig({ home, runner: { long_poll: 1 }, http })
  t.teardown(() => void loadConfig({ home }))
}

/** A runner that found no build, on its own machine, so that its next request stays open. */
async function waiting(more: object = {}, system = `s_${Math.random()}`) {
  const { id, token } = await register(app, undefined, more)
  const ask = (value: string) => request(app, token, value, system)
  const value = async () => String((await request(app, token, '', system)).headers['x-gitlab-last-update'])
  await value()
  return { id, token, ask, value }
}

type Answer = Awaited<ReturnType<typeof request>>
/** Whether an answer comes only after some time. */
const staysOpen = async (answer: Promise<Answer>) =>
  (await Promise.race([answer.then(() => 'answered'), sleep(300).then(() => 'open')])) === 'open'

/** Whether an answer comes before a question that stays open gets its own. */
const comesBefore = (open: Promise<Answer>, answer: Promise<Answer>) =>
  Promise.race([answer.then(() => true), open.then(() => false)])

t.test('a build that comes while the question is open is the answer', async t => {
  const runner = await waiting()
  const answer = runner.ask(await runner.value())
  t.ok(await staysOpen(answer))
  const [build] = await makePipeline(await factory.project(), CI)
  const { statusCode, json } = await answer
  t.equal(statusCode, 201)
  t.equal(json().id, build?.id)
})

t.test('what another process changes is seen, too', async t => {
  const runner = await waiting({ tag_list: 'amd64', run_untagged: false })
  const [build] = await makePipeline(await factory.project(), ARM)
  const answer = runner.ask(await runner.value())
  t.ok(await staysOpen(answer))
  await execute('update runners set tag_list = ? where id = ?', ['["arm"]', runner.id])
  t.equal((await answer).json().id, build?.id)
})

t.test('without a build the question ends with its time, with the value of then', async t => {
  shorten(t)
  const runner = await waiting({ tag_list: 'amd64', run_untagged: false })
  const value = await runner.value()
  const answer = runner.ask(value)
  await makePipeline(await factory.project(), ARM)
  const { statusCode, headers } = await answer
  t.equal(statusCode, 204)
  t.not(headers['x-gitlab-last-update'], value)
  t.equal(headers['x-gitlab-last-update'], await runner.value())
})

t.test('a question with an older value, or none, is answered at once', async t => {
  const runner = await waiting()
  // A question that stayed open would take longer than this test may.
  for (const value of ['', 'older']) t.equal((await runner.ask(value)).statusCode, 204, value)
})

t.test('open questions share their looks, and make no others', async t => {
  shorten(t)
  const runners = [await waiting(), await waiting(), await waiting()]
  for (const { value } of runners) await value()
  const shown = await runners[0]?.value()
  const statements = await countStatements(() => Promise.all(runners.map(({ ask }) => ask(shown ?? ''))))
  t.ok(statements <= 11, `${statements} looks of three runners in a second`)
})

t.test('one build goes to one of the runners that wait, the next one to another', async t => {
  const runners = [await waiting(), await waiting()]
  const shown = (await runners[0]?.value()) ?? ''
  const answers = runners.map(({ ask }) => ask(shown))
  t.ok(await staysOpen(Promise.race(answers)))
  const builds = await makePipeline(await factory.project(), 'a: { script: x }\nb: { script: x }\n')
  const given = (await Promise.all(answers)).map(answer => answer.json().id)
  t.same(
    given.sort((a, b) => a - b),
    builds.map(({ id }) => id)
  )
})

t.test('a machine with several runners is answered at once: one would wait for the other', async t => {
  shorten(t)
  const system = 's_of_two'
  const [first, second] = [await waiting({}, system), await waiting({}, system)]
  const value = await first.value()
  const open = first.ask(value)
  t.ok(await staysOpen(open), 'nobody knows of the second one yet')
  t.ok(await comesBefore(open, second.ask(value)))
  t.ok(await comesBefore(open, first.ask(value)))
  t.equal((await open).statusCode, 204)
})

t.test('half of the requests of an address may stay open', async t => {
  shorten(t, { requests_per_address: 4 })
  const runners = [await waiting(), await waiting(), await waiting()]
  const value = (await runners[0]?.value()) ?? ''
  const last = runners.pop()
  const open = runners.map(({ ask }) => ask(value))
  t.ok(await staysOpen(Promise.race(open)))
  t.ok(last && (await comesBefore(Promise.race(open), last.ask(value))))
  for (const answer of await Promise.all(open)) t.equal(answer.statusCode, 204)
})

t.test('a removed runner gets an error', async t => {
  const runner = await waiting()
  const answer = runner.ask(await runner.value())
  t.ok(await staysOpen(answer))
  await speak(app)('DELETE', '/runners', { payload: { token: runner.token } })
  t.equal((await answer).statusCode, 403)
})

t.test('a build is not given to a client that has gone', async t => {
  const fastify = await buildApp()
  t.teardown(() => fastify.close())
  const { port } = new URL(await fastify.listen({ host: '127.0.0.1', port: 0 }))
  const runner = await waiting()
  const asked = send({
    port,
    method: 'POST',
    path: '/api/v4/jobs/request',
    headers: { 'content-type': 'application/json' }
  })
  const closed = new Promise<void>(resolve => asked.on('error', () => {}).on('close', resolve))
  asked.end(JSON.stringify({ token: runner.token, last_update: await runner.value() }))
  await sleep(300)
  asked.destroy()
  await closed
  await sleep(100)
  const [build] = await makePipeline(await factory.project(), CI)
  await sleep(500)
  t.match(await row('select status from builds where id = ?', [build?.id ?? 0]), { status: 'pending' })
})

t.test('a server that stops answers open questions', async t => {
  const fastify = await buildApp()
  const runner = await waiting()
  const answer = fastify.inject({
    method: 'POST',
    url: '/api/v4/jobs/request',
    payload: { token: runner.token, last_update: await runner.value() }
  })
  t.ok(await staysOpen(answer))
  await fastify.close()
  t.equal((await answer).statusCode, 204)
})

t.test('0 seconds hold nothing', async t => {
  loadConfig({ home, runner: { long_poll: 0 } })
  t.teardown(() => void loadConfig({ home }))
  const runner = await waiting()
  t.notOk(await staysOpen(runner.ask(await runner.value())))
})
