// Makes records with the product's own rules, together with the parents that they need.
import { type Actor, nobody, type Origin, originOf } from '../../src/access/actor.js'
import { MASTER } from '../../src/access/levels.js'
import { createProject } from '../../src/areas/projects/projects.js'
import { findProject, type ProjectRow } from '../../src/areas/projects/projects.queries.js'
import type { ProjectBody } from '../../src/areas/projects/projects.schema.js'
import { writeFile } from '../../src/areas/repository/files.js'
import { createUser } from '../../src/areas/users/users.js'
import type { UserBody } from '../../src/areas/users/users.schema.js'
import { Member } from '../../src/db/models/index.js'
import { execute } from '../../src/db/sql.js'

export interface TestUser {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly password: string
  readonly admin: boolean
  readonly external: boolean
  readonly privateToken: string
}

export interface TestProject {
  readonly id: number
  readonly path: string
  readonly owner: TestUser
}

let count = 0
const next = () => ++count

export const actorOf = (user: TestUser): Actor => ({ user, by: 'private', sudoer: null })

/** The origin for rules that tests call without a request. */
export const someOrigin: Origin = originOf(nobody, null)

async function user(values: Partial<UserBody> & { blocked?: boolean } = {}): Promise<TestUser> {
  const number = next()
  const { blocked, ...rest } = values
  const body = {
    username: `user-${number}`,
    name: `User ${number}`,
    email: `user-${number}@example.org`,
    password: `password-${number}`,
    projects_limit: 1000,
    ...rest
  }
  const { id, privateToken } = await createUser(body, someOrigin)
  if (blocked) await execute("update users set state = 'blocked' where id = ?", [id])
  return { ...body, id, privateToken, admin: body.admin ?? false, external: body.external ?? false }
}

const admin = (values: Partial<UserBody> = {}) => user({ admin: true, ...values })

async function project(values: Partial<ProjectBody> & { owner?: TestUser } = {}): Promise<TestProject> {
  const { owner = await user(), ...body } = values
  const name = `project-${next()}`
  const id = await createProject({ name, ...body }, actorOf(owner))
  return { id, path: `${owner.username}/${body.path ?? body.name ?? name}`, owner }
}

/** Makes a user a member of a project. Returns the user. */
async function member(of: TestProject, level = MASTER, who?: TestUser): Promise<TestUser> {
  const member = who ?? (await user())
  await Member.create({ sourceType: 'project', sourceId: of.id, userId: member.id, accessLevel: level })
  return member
}

/** Commits a file to a branch with the rule of the files API. The first commit creates the branch. */
async function file(of: TestProject, path: string, content: string, branch = 'master'): Promise<void> {
  const row = (await findProject(of.id, actorOf(of.owner))) as ProjectRow
  await writeFile(row, of.owner, 'create', {
    file_path: path,
    branch_name: branch,
    content,
    commit_message: `Add ${path}`
  })
}

export const factory = { user, admin, project, member, file }
