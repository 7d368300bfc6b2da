// Reads one page of jobs: it searches all jobs in steps, until the page is full.

import type { JobPage } from './drawing/tables.js'
import type { Job, JobQuestion, JobSource } from './source.js'
import type { Reading } from './use-polling.js'

/** How many jobs a page has. */
const PAGE = 100

/** Shows the jobs that were found so far after each step. Stops when the page is no longer needed. */
export async function readPage(source: JobSource, question: JobQuestion, reading: Reading<JobPage>): Promise<JobPage> {
  let jobs: readonly Job[] = []
  let { past } = question
  for (;;) {
    const step = await source.jobs({ ...question, past })
    jobs = [...jobs, ...step.jobs].slice(0, PAGE)
    const last = jobs.length === PAGE ? jobs.at(-1) : undefined
    if (last || step.next === null || reading.stopped()) return { jobs, next: last?.id ?? null, searching: null }
    past = step.next
    reading.show({ jobs, next: null, searching: past })
  }
}
