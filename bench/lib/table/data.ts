// The data of the table: 2,000 projects of a thousand users, the repository of 80,000 commits, and a project for each kind of
// list. The home stays in the cache, like that of the mixed load.
import { execute } from '../../../src/db/connect/sql.js'
import type { Administrator, Prepared } from '../appliance.js'
import { temporaryFolder } from '../clean-up.js'
import { runGit } from '../git.js'
import { bigRepository } from '../history.js'
import { homeWith } from '../kept-home.js'
import { writeHistory } from '../mixed/small-history.js'
import { finishJobs, pushHistory } from '../pushed-history.js'
import { pushTo } from '../pushes.js'
import { ask, commitFile, createProject, type ProjectRecord } from '../rest.js'
import {
  seedBuilds,
  seedIssues,
  seedMemberships,
  seedMergeRequests,
  seedProjects,
  seedTodos,
  seedTokens,
  tokenOfUser
} from '../seed.js'

/** Change it when the data change. */
const VERSION = 3
const PROJECTS = 2000
/** The first seeded user owns this many of them. */
const OWNED = 100
const ISSUES = 2000
const MERGE_REQUESTS = 20_000
const NOTES = 400
const LABELS = 38
const PIPELINES = 10_000

export interface TableData {
  readonly admin: Administrator
  /** Owns `ownedProjects`. */
  readonly ownerToken: string
  readonly ownedProjects: readonly number[]
  /** A member of 50 projects. */
  readonly memberToken: string
  /** A member of a thousand projects, with a thousand to-dos, of which a hundred are pending. */
  readonly readerToken: string
  /** Has 80,000 commits. */
  readonly history: ProjectRecord
  /** Has 300 commits. */
  readonly small: ProjectRecord
  readonly built: number
  readonly planned: number
  readonly firstIssue: number
  readonly reviewed: number
  /** Four empty repositories with a README. */
  readonly written: readonly ProjectRecord[]
}

export const homeOfTable = () => homeWith('table', VERSION, fill)

async function fill(appliance: Prepared): Promise<TableData> {
  process.stderr.write('bench: making the data of the table, which takes a minute or two\n')
  const { admin } = appliance
  const history = await pushHistory(appliance, await bigRepository())
  const small = await createProject(appliance, 'small', { public: true })
  await pushTo(appliance, small, await smallRepository())
  const written = []
  for (const name of ['one', 'two', 'three', 'four']) {
    const project = await createProject(appliance, `written ${name}`)
    await commitFile(appliance, project, 'README', 'read me\n')
    written.push(project)
  }
  const built = await makeBuilds(appliance)
  const planned = await makePlans(appliance)
  const reviewed = await createProject(appliance, 'reviewed')
  await commitFile(appliance, reviewed, 'README', 'read me\n')
  await seedMergeRequests(reviewed.id, admin.id, MERGE_REQUESTS)
  const { firstUser, firstProject } = await seedProjects(PROJECTS)
  await seedTokens(firstUser)
  await giveProjects(firstUser, firstProject)
  const member = await makeUser(appliance, 'member')
  await seedMemberships(member.id, firstProject, 50, PROJECTS)
  const reader = await makeUser(appliance, 'reader')
  await seedMemberships(reader.id, firstProject, 1000, PROJECTS)
  const askers = { member: reader.id, administrator: admin.id }
  await seedTodos({ firstUser, firstProject, ...askers, projects: PROJECTS, each: 0 })
  await finishJobs()
  return {
    admin,
    ownerToken: tokenOfUser(0),
    ownedProjects: Array.from({ length: OWNED }, (_, at) => firstProject + at),
    memberToken: member.token,
    readerToken: reader.token,
    history: history.project,
    small,
    built,
    ...planned,
    reviewed: reviewed.id,
    written
  }
}

async function giveProjects(owner: number, firstProject: number): Promise<void> {
  await execute(
    `update projects p join namespaces n on n.owner_id = ? set p.namespace_id = n.id, p.creator_id = ?
     where p.id between ? and ?`,
    [owner, owner, firstProject, firstProject + OWNED - 1]
  )
}

async function smallRepository(): Promise<string> {
  const path = temporaryFolder()
  await runGit(['init', '--quiet', '--bare', '--initial-branch=master', path])
  await writeHistory(path)
  return path
}

/** Makes builds of real commits, because a list of builds shows commits. */
async function makeBuilds(appliance: Prepared): Promise<number> {
  const project = await createProject(appliance, 'built')
  const shas: string[] = []
  for (let number = 0; number < 10; number++) {
    await commitFile(appliance, project, `file-${number}`, `content ${number}`)
    const commit = await ask<{ id: string }>(appliance, 'GET', `/projects/${project.id}/repository/commits/master`)
    shas.push(commit.id)
  }
  await seedBuilds(project.id, appliance.admin.id, PIPELINES, shas)
  return project.id
}

/** Makes a project with issues, labels, and an issue with many notes. */
async function makePlans(appliance: Prepared): Promise<{ planned: number; firstIssue: number }> {
  const { id: planned } = await createProject(appliance, 'planned')
  await seedIssues(planned, appliance.admin.id, ISSUES)
  const below = `/projects/${planned}`
  const [first] = await ask<{ id: number }[]>(appliance, 'GET', `${below}/issues?sort=asc&per_page=1`)
  const firstIssue = first?.id ?? 0
  for (let number = 0; number < NOTES; number++) {
    await ask(appliance, 'POST', `${below}/issues/${firstIssue}/notes`, { body: `What comment ${number} says` })
  }
  for (let number = 0; number < LABELS; number++) {
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
