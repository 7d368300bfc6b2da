// Tests reading pages of jobs in steps, and changing many records one by one.
import { carryOut } from '../../../src/cli/dashboard/changes.js'
import type { JobPage } from '../../../src/cli/dashboard/drawing/tables.js'
import { oneByOne } from '../../../src/cli/dashboard/one-by-one.js'
import { readPage } from '../../../src/cli/dashboard/read-page.js'
import type { FoundJobs, JobQuestion, JobSource } from '../../../src/cli/dashboard/source.js'
import { Forbidden, NotFound, Unavailable } from '../../../src/errors.js'
import t from '../../helpers/tap.js'
import { job } from './make.js'

const QUESTION = { text: 'x', queue: null, oldest: false, past: null }
const many = (from: number, number: number) => Array.from({ length: number }, (_, at) => job(from - at))

/** Returns a source that returns these steps, one for each call. */
function stepping(steps: readonly FoundJobs[]) {
  const asked: JobQuestion[] = []
  const jobs = async (question: JobQuestion) => {
    asked.push(question)
    return steps[asked.length - 1] ?? { jobs: [], next: null }
  }
  return { source: { jobs } as unknown as JobSource, asked }
}

function reading(stopAfter = Number.POSITIVE_INFINITY) {
  const shown: JobPage[] = []
  return { shown, show: (page: JobPage) => void shown.push(page), stopped: () => shown.length >= stopAfter }
}

t.test('a page is read until it is full, and shows partial results', async t => {
  const steps = [
    { jobs: many(1000, 60), next: 900 },
    { jobs: many(800, 60), next: 700 }
  ]
  const { source, asked } = stepping(steps)
  const seen = reading()
  const page = await readPage(source, QUESTION, seen)
  t.equal(page.jobs.length, 100)
  t.match(page, { next: 800 - 39, searching: null }, 'the next page begins after the last job of this one')
  t.same(
    asked.map(({ past }) => past),
    [null, 900]
  )
  t.match(seen.shown, [{ searching: 900 }])
  t.equal(seen.shown[0]?.jobs.length, 60)
})

t.test('a page ends with the last job', async t => {
  const { source } = stepping([
    { jobs: [], next: 900 },
    { jobs: many(5, 2), next: null }
  ])
  t.match(await readPage(source, QUESTION, reading()), { jobs: [{ id: 5 }, { id: 4 }], next: null })
})

t.test('reading stops when the page is no longer needed', async t => {
  const { source, asked } = stepping(Array.from({ length: 10 }, (_, at) => ({ jobs: [], next: 100 - at })))
  await readPage(source, QUESTION, reading(2))
  t.equal(asked.length, 3)
})

t.test('oneByOne counts the records that changed', async t => {
  const change = async (id: number) => {
    if (id === 2) throw new NotFound('Job')
    if (id === 3) throw new Forbidden('no')
  }
  t.equal(await oneByOne([1, 2, 3, 4], change), 2)
  await t.rejects(
    oneByOne([1], async () => {
      throw new Unavailable('away')
    }),
    Unavailable
  )
})

t.test('a change that stops halfway reports its progress', async t => {
  const retry = (ids: readonly number[]) =>
    oneByOne(ids, async id => {
      if (id === 9) throw new Unavailable('the database is not available')
    })
  const source = { retry } as unknown as JobSource
  const ids = [1, 2, 3, 9, 5, 6, 7, 8]
  const { text, away, finished } = await carryOut(source, { kind: 'retry_jobs', ids })
  t.match(text, /^\d of 8 jobs will be tried again; then: the database is not available$/)
  t.same({ away, finished }, { away: true, finished: false })
  t.match(await carryOut(source, { kind: 'retry_jobs', ids: [9] }), {
    text: 'not done: the database is not available'
  })
})
