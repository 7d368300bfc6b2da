// Measures lists of 20 with 100k projects, a group of 10k members and 40k builds in the database: how many requests per second
// one server process answers, and how many statements a request needs.

import { nobody, originOf } from '../src/access/actor.js'
import { createUser } from '../src/areas/people/users/users.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { measureList } from './lib/lists.js'
import { get, stopLoad } from './lib/load.js'
import { ask, commitFile, createProject } from './lib/rest.js'
import { PROJECTS, seedBuilds, seedGroupMembers, seedMemberships, seedProjects } from './lib/seed.js'

const MEMBERS = 10_000
const PER_PAGE = 20

/** Creates a project with builds of real commits, because a list of builds shows commits. Returns its id. */
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
  const list = (name: string, path: string, asker = token) =>
    measureList(appliance, { name: `list, ${name}`, request: get(`/api/v3${path}`, asker) })
  await list('all projects, by an administrator', '/projects/all')
  const lastPage = (total: number) => Math.floor(total / PER_PAGE)
  await list('all projects, the last page', `/projects/all?page=${lastPage(PROJECTS)}`)
  await list('projects that a user sees', '/projects/visible', member.privateToken)
  const group = await ask<{ id: number }>(appliance, 'POST', '/groups', { name: 'Crowd', path: 'crowd' })
  await seedGroupMembers(group.id, MEMBERS)
  const members = `/groups/${group.id}/members`
  await list('members of a group of 10,000', members)
  await list('members, the last page', `${members}?page=${lastPage(MEMBERS)}`)
  await list('the 50 projects of a member', '/projects', member.privateToken)
  await list('users, by an administrator', '/users')
  await list('users, by a user', '/users', member.privateToken)
  await list('builds of a project', `/projects/${built}/builds`)
}

await withAppliance({}, measure)
stopLoad()
