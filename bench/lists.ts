// Measures lists of 20 with 100k projects, a group of 10k members and 40k builds in the database: how many requests per second one server
// process answers, and how many statements a request needs.

import { nobody, originOf } from '../src/access/actor.js'
import { createUser } from '../src/areas/users/users.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { report } from './lib/figure.js'
import { burst, get, rate, stopLoad } from './lib/load.js'
import { ask, commitFile, createProject } from './lib/rest.js'
import { PROJECTS, seedBuilds, seedGroupMembers, seedMemberships, seedProjects, statementCount } from './lib/seed.js'

const LIMIT = 2500
const MEMBERS = 10_000
const PER_PAGE = 20
const SAMPLE = 200

async function statementsOf(port: number, request: string): Promise<number> {
  const before = await statementCount()
  let asked = 0
  const until = performance.now() + 1000
  while (asked < SAMPLE && performance.now() < until) {
    asked += (await burst({ port, requests: [request], connections: 1, milliseconds: 100 })).count
  }
  return Math.round(((await statementCount()) - before) / asked)
}

async function measureList(appliance: Prepared, name: string, request: string): Promise<void> {
  const { port, parts } = appliance
  const found = await rate({
    port,
    requests: [request],
    connections: 16,
    parts
  })
  const { perSecond, ...detail } = found
  report({
    name: `list, ${name}`,
    value: perSecond,
    unit: 'requests/s',
    limit: LIMIT,
    better: 'higher',
    detail: { ...detail, statements: await statementsOf(port, request) }
  })
}

/** Creates a project with builds of real commits, because a list of builds shows commits. Gives its id. */
async function projectWithBuilds(appliance: Prepared): Promise<number> {
  const project = await createProject(appliance, 'built')
  const shas: string[] = []
  for (let number = 0; number < 10; number++) {
    await commitFile(appliance, project, `file-${number}`, `content ${number}`)
    const commit = await ask<{ id: string }>(appliance, 'GET', `/projects/${project.id}/repository/commits/master`)
    shas.push(commit.id)
  }
  await seedBuilds(project.id, appliance.admin.id, 10_000, shas)
  return project.id
}

async function measure(appliance: Prepared): Promise<void> {
  const built = await projectWithBuilds(appliance)
  const { firstProject } = await seedProjects()
  const member = await createUser(
    {
      username: 'member',
      name: 'Member',
      email: 'member@example.org',
      password: 'a long password'
    },
    originOf(nobody, null)
  )
  await seedMemberships(member.id, firstProject, 50)
  const { token } = appliance.admin
  await measureList(appliance, 'all projects, by an administrator', get('/api/v3/projects/all', token))
  const lastPage = (total: number) => Math.floor(total / PER_PAGE)
  await measureList(
    appliance,
    'all projects, the last page',
    get(`/api/v3/projects/all?page=${lastPage(PROJECTS)}`, token)
  )
  await measureList(appliance, 'projects that a user sees', get('/api/v3/projects/visible', member.privateToken))
  const group = await ask<{ id: number }>(appliance, 'POST', '/groups', { name: 'Crowd', path: 'crowd' })
  await seedGroupMembers(group.id, MEMBERS)
  const members = `/api/v3/groups/${group.id}/members`
  await measureList(appliance, 'members of a group of 10,000', get(members, token))
  await measureList(appliance, 'members, the last page', get(`${members}?page=${lastPage(MEMBERS)}`, token))
  await measureList(appliance, 'the 50 projects of a member', get('/api/v3/projects', member.privateToken))
  await measureList(appliance, 'users, by an administrator', get('/api/v3/users', token))
  await measureList(appliance, 'users, by a user', get('/api/v3/users', member.privateToken))
  await measureList(appliance, 'builds of a project', get(`/api/v3/projects/${built}/builds`, token))
}

await withAppliance({}, measure)
stopLoad()
