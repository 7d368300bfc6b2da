// The search among all jobs: its results, where it continues, and that it sends the text as a value.
import { execute } from '../../src/db/connect/sql.js'
import { type FoundJobs, type JobSearch, LOOKED_THROUGH, searchJobs } from '../../src/queue/search.js'
import { testDatabase } from '../helpers/database.js'
import { numbersTo } from '../helpers/numbers.js'
import { countStatements } from '../helpers/statements.js'
import t from '../helpers/tap.js'

await testDatabase()

interface Given {
  payload?: string
  state?: string
  queue?: string
  error?: string | null
}

async function job({ payload = '{}', state = 'ready', queue = 'default', error = null }: Given = {}): Promise<number> {
  const now = new Date()
  const { insertId } = await execute(
    "insert into jobs (queue, name, payload, state, run_at, error, created_at) values (?, 'hook.deliver', ?, ?, ?, ?, ?)",
    [queue, payload, state, now, error, now]
  )
  return insertId
}

const idsOf = async (search: JobSearch) => (await searchJobs(search)).jobs.map(({ id }) => id)

t.beforeEach(() => execute('delete from jobs'))

t.test('finds a text in the payload, error, state, queue, name and id, ignoring case', async t => {
  const one = await job({ payload: '{"path":"Müller/äpfel"}' })
  const two = await job({ state: 'dead', error: 'Error: no ANSWER', queue: 'mail' })
  t.same(await idsOf({}), [two, one], 'newest first')
  t.same(await idsOf({ oldest: true }), [one, two])
  t.same(await idsOf({ text: 'müller/Ä' }), [one])
  t.same(await idsOf({ text: 'no answer' }), [two])
  t.same(await idsOf({ text: 'dead' }), [two])
  t.same(await idsOf({ text: 'MAIL' }), [two])
  t.same(await idsOf({ text: 'Hook.Deliver' }), [two, one])
  t.same(await idsOf({ text: String(two) }), [two])
  t.same(await idsOf({ state: 'dead', queue: 'mail' }), [two])
  t.same(await idsOf({ state: 'dead', queue: 'default' }), [])
  await t.rejects(searchJobs({ queue: 'nowhere' }), /is not one of/)
})

t.test('no character of the text has a special meaning', async t => {
  const id = await job({ payload: `{"a":"100%_'\\\\; -- "}` })
  await job({ payload: '{"a":"1000"}' })
  for (const text of ['100%', '%_', "'", '\\', "'\\\\; --"]) t.same(await idsOf({ text }), [id], text)
  t.same(await idsOf({ text: "' or 1 = 1 -- " }), [])
})

t.test('only the beginning of a long payload is searched, and the payload is not returned', async t => {
  const id = await job({ payload: JSON.stringify(`begin${'x'.repeat(5000)}end`) })
  const { jobs } = await searchJobs({ text: 'begin' })
  t.match(jobs, [{ id, payload: null }])
  t.same(await idsOf({ text: 'xend' }), [], 'only the first 4,000 characters count')
})

t.test('searches all jobs in steps of two statements, in both directions', async t => {
  const now = new Date()
  const jobs = 2 * LOOKED_THROUGH + 10
  await execute(
    `insert into jobs (queue, name, payload, state, run_at, created_at)
     select 'default', 'x', concat('{"n":', seq, ',"t":"', if(seq in (5, ${jobs - 5}), 'needle', 'hay'), '"}'), 'ready', ?, ?
     from ${numbersTo(jobs)}`,
    [now, now]
  )
  for (const oldest of [false, true]) {
    const found: number[] = []
    let past: number | undefined
    let steps = 0
    do {
      let step: FoundJobs = { jobs: [], next: null }
      const statements = await countStatements(async () => {
        step = await searchJobs({ text: 'NEEDLE', oldest, past })
      })
      t.equal(statements, 2)
      found.push(...step.jobs.map(({ id }) => id))
      past = step.next ?? undefined
      steps += 1
    } while (past !== undefined)
    t.equal(steps, 3)
    t.equal(found.length, 2)
    t.equal((found[0] ?? 0) < (found[1] ?? 0), oldest)
  }
  const pages = [await searchJobs({}), await searchJobs({ past: (await searchJobs({})).next ?? 0 })]
  const ids = pages.flatMap(page => page.jobs.map(({ id }) => id))
  t.equal(new Set(ids).size, 200, 'a page continues where the previous one ended')
})
