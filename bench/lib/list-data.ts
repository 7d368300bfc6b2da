// The records that lists show: projects of a thousand users, and a project for each kind of list.
import { scheduleOrigin } from '../../src/access/actor.js'
import { runTask } from '../../src/areas/upkeep/maintenance/maintenance.js'
import { execute } from '../../src/db/connect/sql.js'
import type { Administrator, Prepared } from './appliance.js'
import { finishJobs } from './pushed-history.js'
import { ask, commitFile, createProject } from './rest.js'
import {
  seedBuilds,
  seedIssues,
  seedMemberships,
  seedMergeRequests,
  seedProjects,
  seedTodos,
  seedTokens,
  tokenOfUser
} from './seed.js'

export interface Sizes {
  readonly projects: number
  /** Issues of one project, merge requests and pipelines of another, labels, and notes of one issue. */
  readonly issues: number
  readonly mergeRequests: number
  readonly pipelines: number
  readonly labels: number
  readonly notes: number
  /** To-dos of each user. */
  readonly todos: number
}

export interface ListData {
  readonly admin: Administrator
  /** Owns `ownedProjects`. */
  readonly ownerToken: string
  readonly ownedProjects: readonly number[]
  /** A member of 50 projects. */
  readonly memberToken: string
  /** A member of a thousand projects, with a thousand to-dos, of which a hundred are pending. */
  readonly readerToken: string
  readonly built: number
  readonly planned: number
  readonly firstIssue: number
  readonly reviewed: number
}

/** The first seeded user owns this many projects. */
const OWNED = 100

export async function makeLists(appliance: Prepared, sizes: Sizes): Promise<ListData> {
  const { admin } = appliance
  const { projects } = sizes
  const built = await makeBuilds(appliance, sizes.pipelines)
  const planned = await makePlans(appliance, sizes)
  const reviewed = await createProject(appliance, 'reviewed')
  await commitFile(appliance, reviewed, 'README', 'read me\n')
  await seedMergeRequests(reviewed.id, admin.id, sizes.mergeRequests)
  const { firstUser, firstProject } = await seedProjects(projects)
  await seedTokens(firstUser)
  await giveProjects(firstUser, firstProject)
  const member = await makeUser(appliance, 'member')
  await seedMemberships(member.id, firstProject, 50, projects)
  const reader = await makeUser(appliance, 'reader')
  await seedMemberships(reader.id, firstProject, 1000, projects)
  const askers = { member: reader.id, administrator: admin.id }
  await seedTodos({ firstUser, firstProject, ...askers, projects, each: sizes.todos })
  await finishJobs()
  // Otherwise the worker would do it while the lists are measured.
  await runTask('search_words', {}, scheduleOrigin())
  return {
    admin,
    ownerToken: tokenOfUser(0),
    ownedProjects: Array.from({ length: OWNED }, (_, at) => firstProject + at),
    memberToken: member.token,
    readerToken: reader.token,
    built,
    ...planned,
    reviewed: reviewed.id
  }
}

async function giveProjects(owner: number, firstProject: number): Promise<void> {
  await execute(
    `update projects p join namespaces n on n.owner_id = ? set p.namespace_id = n.id, p.creator_id = ?
     where p.id between ? and ?`,
    [owner, owner, firstProject, firstProject + OWNED - 1]
  )
}

/** Makes builds of real commits, because a list of builds shows commits. */
async function makeBuilds(appliance: Prepared, pipelines: number): Promise<number> {
  const project = await createProject(appliance, 'built')
  const shas: string[] = []
  for (let number = 0; number < 10; number++) {
    await commitFile(appliance, project, `file-${number}`, `content ${number}`)
    const commit = await ask<{ id: string }>(appliance, 'GET', `/projects/${project.id}/repository/commits/master`)
    shas.push(commit.id)
  }
  await seedBuilds(project.id, appliance.admin.id, pipelines, shas)
  return project.id
}

/** Makes a project with issues, labels, and an issue with many notes. */
async function makePlans(appliance: Prepared, sizes: Sizes): Promise<{ planned: number; firstIssue: number }> {
  const { id: planned } = await createProject(appliance, 'planned')
  await seedIssues(planned, appliance.admin.id, sizes.issues)
  const below = `/projects/${planned}`
  const [first] = await ask<{ id: number }[]>(appliance, 'GET', `${below}/issues?sort=asc&per_page=1`)
  const firstIssue = first?.id ?? 0
  for (let number = 0; number < sizes.notes; number++) {
    await ask(appliance, 'POST', `${below}/issues/${firstIssue}/notes`, { body: `What comment ${number} says` })
  }
  for (let number = 0; number < sizes.labels; number++) {
    await ask(appliance, 'POST', `${below}/labels`, { name: `label ${number}`, color: '#428bca' })
  }
  return { planned, firstIssue }
}

async function makeUser(appliance: Prepared, username: string): Promise<{ id: number; token: string }> {
  const person = { username, name: 'A Person', email: `${username}@example.org`, password: 'a-long-password' }
  const { id } = await ask<{ id: number }>(appliance, 'POST', '/users', person)
  const { private_token: token } = await ask<{ private_token: string }>(appliance, 'POST', '/session', {
    login: username,
    password: person.password
  })
  return { id, token }
}
