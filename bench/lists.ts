// Measures lists of 20, the first page and one far from it, compared with a bare route that answers the same records. There are
// 100k projects, 100k issues and merge requests of one project, 40k builds, 100k to-dos and a group of 10k members. `--only
// WORDS` measures only the lists whose names have these words.
import { parseArgs } from 'node:util'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { measureRead, type Table } from './lib/bare.js'
import { homeWith } from './lib/kept-home.js'
import { type ListData, makeLists, type Sizes } from './lib/list-data.js'
import { stopLoad } from './lib/load.js'
import { ask } from './lib/rest.js'
import { seedGroupMembers } from './lib/seed.js'

/** Change it when the data change. */
const VERSION = 1
const MEMBERS = 10_000
const SIZES: Sizes = {
  projects: 100_000,
  issues: 100_000,
  mergeRequests: 100_000,
  pipelines: 10_000,
  labels: 400,
  notes: 1000,
  todos: 100
}

const { values: options } = parseArgs({ options: { only: { type: 'string', default: '' } } })

const { home, dataset } = await homeWith('lists', VERSION, fill)
await withAppliance({ home, admin: dataset.admin }, measure)
stopLoad()

async function fill(appliance: Prepared): Promise<ListData> {
  process.stderr.write('bench: making the data of the lists, which takes a minute or two\n')
  const group = await ask<{ id: number }>(appliance, 'POST', '/groups', { name: 'Crowd', path: 'crowd' })
  await seedGroupMembers(group.id, MEMBERS)
  return makeLists(appliance, SIZES)
}

async function measure(appliance: Prepared): Promise<void> {
  const { admin, memberToken, readerToken, ownerToken, built, planned, firstIssue, reviewed } = dataset
  const issues = `/projects/${planned}/issues`
  const mergeRequests = `/projects/${reviewed}/merge_requests`
  const lists: [name: string, table: Table, path: string, token?: string][] = [
    ['own projects', 'projects', '/projects/owned', ownerToken],
    ['own projects, last page', 'projects', '/projects/owned?page=5', ownerToken],
    ["member's projects", 'projects', '/projects', memberToken],
    ['all projects', 'projects', '/projects/all'],
    ['all projects, page 4,000', 'projects', '/projects/all?page=4000'],
    ['visible projects', 'projects', '/projects/visible', memberToken],
    ['builds', 'builds', `/projects/${built}/builds`],
    ['builds, page 1,500', 'builds', `/projects/${built}/builds?page=1500`],
    ['issues', 'issues', issues],
    ['issues, page 4,000', 'issues', `${issues}?page=4000`],
    ['merge requests', 'merge_requests', mergeRequests],
    ['merge requests, page 4,000', 'merge_requests', `${mergeRequests}?page=4000`],
    ['open merge requests, by their change', 'merge_requests', `${mergeRequests}?state=opened&order_by=updated_at`],
    ['to-dos', 'todos', '/todos', readerToken],
    ['to-dos that are done, page 40', 'todos', '/todos?state=done&page=40', readerToken],
    ['notes', 'notes', `${issues}/${firstIssue}/notes`],
    ['notes, page 40', 'notes', `${issues}/${firstIssue}/notes?page=40`],
    ['labels', 'labels', `/projects/${planned}/labels`],
    ['labels, page 15', 'labels', `/projects/${planned}/labels?page=15`],
    ['users', 'users', '/users'],
    ['members of a group of 10,000, page 400', 'members', '/groups/crowd/members?page=400']
  ]
  for (const [name, table, path, token = admin.token] of lists) {
    if (name.includes(options.only)) await measureRead(appliance, { name: `list, ${name}`, table, path, token })
  }
}
