// The actors, projects and groups of the matrix. Each test file that needs them creates them once.
import { createToken } from '../../src/areas/people/credentials/tokens.js'
import { execute, row } from '../../src/db/connect/sql.js'
import { DEVELOPER, GUEST, MASTER, OWNER, REPORTER } from '../../src/lib/levels.js'
import { type TestApp, testApp } from '../helpers/app.js'
import { someOrigin, type TestGroup, type TestProject, type TestUser } from '../helpers/factory.js'
import t from '../helpers/tap.js'
import type { ActorName, IndirectName } from './actors.js'
import type { GroupKind, ProjectKind } from './expectations.js'

export interface World {
  readonly app: TestApp
  readonly admin: TestUser
  /** The tokens that the actors send; undefined for nobody. */
  readonly tokens: { readonly [Name in ActorName | IndirectName]: string | undefined }
  /** The actors who are users. */
  readonly users: { readonly [Name in ActorName | IndirectName]?: TestUser }
  readonly projects: { readonly [Kind in ProjectKind]: TestProject }
  readonly groups: { readonly [Kind in GroupKind]: TestGroup }
}

/** One request: the actor and the subject. */
export interface Asking {
  readonly world: World
  readonly actor: ActorName | IndirectName
  /** The caller; an administrator when the actor is not a user. */
  readonly user: TestUser
  /** A different text for each request. */
  readonly unique: string
  /** The project in the path; the private project for routes that are not about a project. */
  readonly project: TestProject
  /** The group in the path; the private group for routes that are not about a group. */
  readonly group: TestGroup
}

const VALUES: { readonly [Kind in ProjectKind]: object } = {
  private: { visibility_level: 0 },
  privateClosed: { visibility_level: 0, public_builds: false },
  internal: { visibility_level: 10 },
  public: { visibility_level: 20 },
  closedBuilds: { visibility_level: 20, public_builds: false },
  withoutBuilds: { visibility_level: 20 },
  archived: { visibility_level: 20 },
  grouped: { visibility_level: 0 }
}
/** The changes to a project after `fill`. */
const SWITCHES: { readonly [Kind in ProjectKind]?: string } = {
  withoutBuilds: 'update projects set builds_enabled = 0 where id = ?',
  archived: 'update projects set archived = 1 where id = ?'
}
const YESTERDAY = () => new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)

/** Creates the world. `fill` adds the records that the routes read to each project. */
export async function makeWorld(fill: (project: TestProject) => Promise<void>): Promise<World> {
  const app = await testApp(t)
  const { make } = app
  const admin = await make.admin()
  const people = {
    stranger: await make.user(),
    external: await make.user({ external: true }),
    guest: await make.user(),
    reporter: await make.user(),
    developer: await make.user(),
    master: await make.user(),
    owner: await make.user(),
    blocked: await make.user({ blocked: true }),
    groupDeveloper: await make.user(),
    sharedReporter: await make.user(),
    expired: await make.user()
  }
  const projects = {} as { [Kind in ProjectKind]: TestProject }
  for (const kind of Object.keys(VALUES) as ProjectKind[]) projects[kind] = await makeProject(app, kind, people)
  for (const project of Object.values(projects)) await fill(project)
  for (const [kind, sql] of Object.entries(SWITCHES)) await execute(sql, [projects[kind as ProjectKind].id])
  const groups = await makeGroups(app, people)
  const { token } = await createToken(people.owner, { name: 'reads users', scopes: ['read_user'] }, byCommand)
  const users = { ...people, admin, readUser: people.owner }
  const tokens = {
    nobody: undefined,
    ...Object.fromEntries(Object.entries(users).map(([name, { privateToken }]) => [name, privateToken])),
    readUser: token,
    wrong: 'no-such-token'
  } as World['tokens']
  return { app, admin, tokens, users, projects, groups }
}

const byCommand = { ...someOrigin, via: 'command' as const }

type People = { readonly [name: string]: TestUser } & { readonly owner: TestUser }

async function makeProject({ make }: TestApp, kind: ProjectKind, people: People): Promise<TestProject> {
  const project = await make.project({ owner: people.owner, ...VALUES[kind] })
  const members = [
    [GUEST, people.guest],
    [REPORTER, people.reporter],
    [DEVELOPER, people.developer],
    [MASTER, people.master],
    [MASTER, people.blocked]
  ] as const
  for (const [level, user] of members) if (user) await make.member(project, level, user)
  if (people.expired) await make.member(project, MASTER, people.expired, YESTERDAY())
  if (kind !== 'grouped') return project
  return moveIntoGroup(make, project, people)
}

/**
 * Moves a project to a group: the level of its owner then comes from the group, and that of others from a group with
 * which it is shared.
 */
async function moveIntoGroup(make: TestApp['make'], project: TestProject, people: People): Promise<TestProject> {
  const group = await make.group()
  await make.groupMember(group, OWNER, people.owner)
  if (people.groupDeveloper) await make.groupMember(group, DEVELOPER, people.groupDeveloper)
  const other = await make.group()
  if (people.sharedReporter) await make.groupMember(other, MASTER, people.sharedReporter)
  await make.share(project, other, REPORTER)
  await execute('update projects set namespace_id = ? where id = ?', [group.id, project.id])
  const found = await row<{ name: string }>('select path as name from projects where id = ?', [project.id])
  return { ...project, path: `${group.path}/${found?.name}` }
}

async function makeGroups({ make }: TestApp, people: People): Promise<World['groups']> {
  const groups = {
    private: await make.group({ visibilityLevel: 0 }),
    internal: await make.group({ visibilityLevel: 10 }),
    public: await make.group({ visibilityLevel: 20 }),
    holding: await make.group({ visibilityLevel: 0 })
  }
  for (const group of Object.values(groups)) {
    const members = { guest: GUEST, reporter: REPORTER, developer: DEVELOPER, master: MASTER, owner: OWNER }
    for (const [name, level] of Object.entries(members)) {
      const user = people[name]
      if (user) await make.groupMember(group, level, user)
    }
    if (people.blocked) await make.groupMember(group, MASTER, people.blocked)
    if (people.expired) await make.groupMember(group, MASTER, people.expired, YESTERDAY())
  }
  const held = await make.project({ visibility_level: 20 })
  await execute('update projects set namespace_id = ? where id = ?', [groups.holding.id, held.id])
  return groups
}
