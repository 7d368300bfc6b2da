// Makes records with the product's own rules, with the parents that they need.
import { type Actor, actorOf as asActor, nobody, type Origin, originOf } from '../../src/access/actor.js'
import { createBranch } from '../../src/areas/code/refs/branches.js'
import { writeFile } from '../../src/areas/code/repository/files.js'
import { checkUser } from '../../src/areas/people/users/user-rules.js'
import { insertUsers } from '../../src/areas/people/users/users.js'
import type { UserBody } from '../../src/areas/people/users/users.schema.js'
import { createProject } from '../../src/areas/projects/projects/projects.js'
import { findProject, type ProjectRow } from '../../src/areas/projects/projects/projects.queries.js'
import type { ProjectBody } from '../../src/areas/projects/projects/projects.schema.js'
import { storageOf } from '../../src/areas/projects/projects/repositories.js'
import { config } from '../../src/config.js'
import { execute } from '../../src/db/connect/sql.js'
import { MASTER, OWNER } from '../../src/lib/levels.js'
import { hashPassword } from '../../src/lib/password-hash.js'
import { newToken, tokenHash } from '../../src/secrets.js'

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
  readonly storage: string
}

export interface TestGroup {
  readonly id: number
  readonly path: string
}

let named = { home: '', count: 0 }

/** A number for the next name. Each test file begins at 1, in its own home, whatever ran before it in this process. */
function next(): number {
  const { home } = config()
  if (named.home !== home) named = { home, count: 0 }
  return ++named.count
}

export const actorOf = (user: TestUser): Actor => asActor(user, 'private')

/** The origin for rules that tests call without a request. */
export const someOrigin: Origin = originOf(nobody, null)

export const originBy = (user: TestUser): Origin => originOf(actorOf(user), null)

/** Most users of the tests have the same password: its hash takes most of the time for making a user. */
const PASSWORD = 'the-password-of-most'
let known: Promise<string> | undefined
function usualHash(): Promise<string> {
  known ??= hashPassword(PASSWORD)
  return known
}

async function user(values: Partial<UserBody> & { blocked?: boolean } = {}): Promise<TestUser> {
  const number = next()
  const { blocked, ...rest } = values
  const body = {
    username: `user-${number}`,
    name: `User ${number}`,
    email: `user-${number}@example.org`,
    password: PASSWORD,
    projects_limit: 1000,
    ...rest
  }
  checkUser(body)
  const privateToken = newToken()
  const passwordHash = await (body.password === PASSWORD ? usualHash() : hashPassword(body.password))
  const [id = 0] = await insertUsers([{ body, passwordHash, privateToken }], someOrigin)
  if (blocked) await execute("update users set state = 'blocked' where id = ?", [id])
  return { ...body, id, privateToken, admin: body.admin ?? false, external: body.external ?? false }
}

const admin = (values: Partial<UserBody> = {}) => user({ admin: true, ...values })

async function project(
  values: Partial<ProjectBody> & { owner?: TestUser; group?: TestGroup } = {}
): Promise<TestProject> {
  const { owner = await user(), group, ...body } = values
  const name = `project-${next()}`
  const id = await createProject({ name, ...(group && { namespace_id: group.id }), ...body }, originBy(owner))
  return {
    id,
    path: `${group?.path ?? owner.username}/${body.path ?? body.name ?? name}`,
    owner,
    storage: (await storageOf(String(id))) ?? ''
  }
}

/** Makes a user a member of a project; `expiresAt` is YYYY-MM-DD. */
async function member(
  of: Pick<TestProject, 'id'>,
  level = MASTER,
  who?: TestUser,
  expiresAt?: string
): Promise<TestUser> {
  const member = who ?? (await user())
  await addMember('project', of.id, member.id, level, expiresAt)
  return member
}

// The rows of groups, members and shares are written here, because tests need rows that the rules refuse: groups without an
// owner, and memberships that have ended.

interface GroupValues {
  readonly path?: string
  readonly visibilityLevel?: number
  /** Becomes the owner of the group. */
  readonly owner?: TestUser
  readonly requestAccess?: boolean
}

async function group({ path = `group-${next()}`, ...values }: GroupValues = {}): Promise<TestGroup> {
  const { visibilityLevel = 0, owner, requestAccess = false } = values
  const now = new Date()
  const { insertId } = await execute(
    `insert into namespaces (kind, name, path, visibility_level, request_access_enabled, created_at, updated_at)
     values ('group', ?, ?, ?, ?, ?, ?)`,
    [path, path, visibilityLevel, requestAccess, now, now]
  )
  if (owner) await addMember('namespace', insertId, owner.id, OWNER)
  return { id: insertId, path }
}

/** Makes a user a member of a group. */
async function groupMember(of: TestGroup, level = MASTER, who?: TestUser, expiresAt?: string): Promise<TestUser> {
  const member = who ?? (await user())
  await addMember('namespace', of.id, member.id, level, expiresAt)
  return member
}

async function addMember(type: string, id: number, userId: number, level: number, expiresAt?: string): Promise<void> {
  const now = new Date()
  await execute(
    `insert into members (source_type, source_id, user_id, access_level, expires_at, created_at, updated_at)
     values (?, ?, ?, ?, ?, ?, ?)`,
    [type, id, userId, level, expiresAt ?? null, now, now]
  )
}

/** Shares a project with a group, whose members have at most this level in it. */
async function share(project: TestProject, group: TestGroup, level: number, expiresAt?: string): Promise<void> {
  const now = new Date()
  await execute(
    `insert into project_group_links (project_id, group_id, group_access, expires_at, created_at, updated_at)
     values (?, ?, ?, ?, ?, ?)`,
    [project.id, group.id, level, expiresAt ?? null, now, now]
  )
  await execute('update projects set has_shares = true where id = ?', [project.id])
}

/** Writes a request for access to a project or group. */
async function accessRequest(type: 'project' | 'namespace', { id }: { id: number }, who?: TestUser): Promise<TestUser> {
  const asker = who ?? (await user())
  await execute('insert into access_requests (source_type, source_id, user_id, created_at) values (?, ?, ?, ?)', [
    type,
    id,
    asker.id,
    new Date()
  ])
  return asker
}

interface TokenValues {
  readonly scopes?: string
  readonly expiresAt?: Date
  readonly revokedAt?: Date
}

/** Gives a user a personal access token, in any state; returns the token itself. */
async function token({ id }: { id: number }, { scopes = 'api', expiresAt, revokedAt }: TokenValues = {}) {
  const token = newToken()
  await execute(
    `insert into access_tokens (token_hash, user_id, kind, scopes, created_at, expires_at, revoked_at)
     values (?, ?, 'personal', ?, ?, ?, ?)`,
    [tokenHash(token), id, scopes, new Date(), expiresAt ?? null, revokedAt ?? null]
  )
  return token
}

/** The project as requests of its owner read it. */
export const projectRow = async (of: TestProject): Promise<ProjectRow> =>
  (await findProject(of.id, actorOf(of.owner))) as ProjectRow

/** Commits a file to a branch, with the files API's own rule; the first commit makes the branch. */
async function file(of: TestProject, path: string, content: string, branch = 'master'): Promise<void> {
  const row = await projectRow(of)
  const file = { file_path: path, branch_name: branch, content, commit_message: `Add ${path}` }
  await writeFile(row, { ...file, action: 'create' }, originBy(of.owner))
}

/** Makes a branch at the tip of another one. New default branches are protected; users who may only push use this branch. */
async function branch(of: TestProject, name: string, from = 'master'): Promise<void> {
  await createBranch(await projectRow(of), { branch_name: name, ref: from }, originBy(of.owner))
}

export const factory = { user, admin, project, member, group, groupMember, accessRequest, share, token, file, branch }
