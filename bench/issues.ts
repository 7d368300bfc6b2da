// Measures issues with a million of them in one project: lists of 20 with every filter, including far pages, compared with
// a bare route, and how many issues and notes writers create. `--only WORDS` measures only
// the figures whose names have these words.
import { execute } from '../src/db/connect/sql.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { measureRead } from './lib/bare.js'
import { report } from './lib/figure.js'
import { post, rate, stopLoad } from './lib/load.js'
import { ask, createProject } from './lib/rest.js'
import { seedIssues } from './lib/seed.js'

const ISSUES = 1_000_000
const WRITERS = 50
const only = process.argv[2] === '--only' ? process.argv[3] : undefined
const isWanted = (name: string) => only === undefined || name.includes(only)

/** Each writer comments on a different issue, because writers of one issue wait for each other. */
const FIRST_NOTED = 1000

async function measureWriters(appliance: Prepared, name: string, requests: readonly string[]) {
  if (!isWanted(name)) return
  const { port, parts } = appliance
  const { perSecond, ...detail } = await rate({ port, requests, connections: WRITERS, parts, rounds: 3 })
  report({ name, value: perSecond, unit: 'requests/s', limit: null, better: 'higher', detail })
}

async function measureWrites(appliance: Prepared, issues: string): Promise<void> {
  const { token } = appliance.admin
  const issue = post(`/api/v3${issues}`, token, { title: 'An issue of a writer', description: 'what there is to do' })
  await measureWriters(appliance, `issues, created by ${WRITERS} writers in one project`, [issue])
  const [first] = await ask<{ id: number }[]>(appliance, 'GET', `${issues}?sort=asc&per_page=1`)
  const notes = Array.from({ length: WRITERS }, (_, at) =>
    post(`/api/v3${issues}/${(first?.id ?? 0) + FIRST_NOTED + at}/notes`, token, { body: 'What a writer has to say' })
  )
  await measureWriters(appliance, `notes, created by ${WRITERS} writers`, notes)
}

/** A path for each of several pages that are far from each other, when the path has a placeholder for the page. */
const pagesOf = (path: string, last: number): string[] =>
  path.endsWith('PAGE')
    ? Array.from({ length: 500 }, (_, at) => path.replace('PAGE', String(1 + ((at * 7919) % last))))
    : [path]

async function measure(appliance: Prepared): Promise<void> {
  const project = await createProject(appliance, 'planned')
  await seedIssues(project.id, appliance.admin.id, ISSUES)
  await execute('analyze table issues, label_links, labels, milestones')
  const issues = `/projects/${project.id}/issues`
  const last = ISSUES / 20
  const lists: [string, string][] = [
    ['the first page', issues],
    ['page 1,000', `${issues}?page=1000`],
    ['the last page', `${issues}?page=${last}`],
    ['the page in the middle', `${issues}?page=${last / 2}`],
    ['pages far from each other', `${issues}?page=PAGE`],
    ['open ones', `${issues}?state=opened`],
    ['closed ones, by their change, oldest first', `${issues}?state=closed&order_by=updated_at&sort=asc`],
    ['with a frequent label', `${issues}?labels=frequent`],
    ['with a frequent label, page 100', `${issues}?labels=frequent&page=100`],
    ['with a rare label', `${issues}?labels=rare`],
    ['with one of two labels', `${issues}?labels=rare,frequent&state=opened`],
    ['of a milestone', `${issues}?milestone=v1`],
    ['without a milestone', `${issues}?milestone=No%20Milestone`],
    ['made by the caller', '/issues'],
    ['made by the caller, with a label', '/issues?labels=rare']
  ]
  for (const [name, path] of lists) {
    if (!isWanted(name)) continue
    const what = { table: 'issues', path: pagesOf(path, last), token: appliance.admin.token } as const
    await measureRead(appliance, { name: `issues, ${name}`, ...what })
  }
  await ask(appliance, 'GET', `/projects/${project.id}/labels`)
  await measureWrites(appliance, issues)
}

await withAppliance({}, measure)
stopLoad()
