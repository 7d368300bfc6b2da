// Measures issues with a million of them in one project: lists of 20 by every filter, far pages included, and how many issues
// writers create. `statements` is how many statements the database counts for a request.
import { execute } from '../src/db/sql.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { report } from './lib/figure.js'
import { measureList } from './lib/lists.js'
import { get, rate, stopLoad } from './lib/load.js'
import { ask, createProject } from './lib/rest.js'
import { seedIssues } from './lib/seed.js'

const CREATE_LIMIT = 500
const ISSUES = 1_000_000
const WRITERS = 50

async function measureCreation({ port, parts, admin }: Prepared, project: number): Promise<void> {
  const body = JSON.stringify({ title: 'An issue of a writer', description: 'what there is to do' })
  const request = `POST /api/v3/projects/${project}/issues HTTP/1.1\r\nhost: localhost\r\nprivate-token: ${admin.token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const { perSecond, ...detail } = await rate({ port, requests: [request], connections: WRITERS, parts, rounds: 3 })
  report({
    name: `issues, created by ${WRITERS} writers in one project`,
    value: perSecond,
    unit: 'requests/s',
    limit: CREATE_LIMIT,
    better: 'higher',
    detail
  })
}

async function measure(appliance: Prepared): Promise<void> {
  const project = await createProject(appliance, 'planned')
  await seedIssues(project.id, appliance.admin.id, ISSUES)
  await execute('analyze table issues, label_links, labels, milestones')
  const issues = `/projects/${project.id}/issues`
  const last = ISSUES / 20
  const only = process.argv[2]
  const lists: [string, string][] = [
    ['the first page', issues],
    ['page 1,000', `${issues}?page=1000`],
    ['the last page', `${issues}?page=${last}`],
    ['the page in the middle', `${issues}?page=${last / 2}`],
    ['open ones', `${issues}?state=opened`],
    ['closed ones, by their change, the oldest first', `${issues}?state=closed&order_by=updated_at&sort=asc`],
    ['with a frequent label', `${issues}?labels=frequent`],
    ['with a frequent label, page 100', `${issues}?labels=frequent&page=100`],
    ['with a rare label', `${issues}?labels=rare`],
    ['with one of two labels', `${issues}?labels=rare,frequent&state=opened`],
    ['of a milestone', `${issues}?milestone=v1`],
    ['without a milestone', `${issues}?milestone=No%20Milestone`],
    ['made by the asker', '/issues'],
    ['made by the asker, with a label', '/issues?labels=rare']
  ]
  for (const [name, path] of lists) {
    if (only && !name.includes(only)) continue
    const request = get(`/api/v3${path}`, appliance.admin.token)
    await measureList(appliance, { name: `issues, ${name}`, request, rounds: 3 })
  }
  await ask(appliance, 'GET', `/projects/${project.id}/labels`)
  await measureCreation(appliance, project.id)
}

await withAppliance({}, measure)
stopLoad()
