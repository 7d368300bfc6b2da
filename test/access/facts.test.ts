// Compares the facts of the table (verdict.ts) with those that the product reads for the world of the matrix.
import { FEATURES } from '../../src/access/abilities.js'
import { type Actor, nobody } from '../../src/access/actor.js'
import { type GroupAccess, levelIn, levelInGroup, type ProjectAccess } from '../../src/access/authorize.js'
import { actorOfToken } from '../../src/areas/people/credentials/credentials.js'
import { findGroup } from '../../src/areas/people/groups/groups.queries.js'
import { findProject } from '../../src/areas/projects/projects/projects.queries.js'
import { execute } from '../../src/db/connect/sql.js'
import t from '../helpers/tap.js'
import { ACTORS, INDIRECT } from './actors.js'
import { GROUPS, PROJECTS } from './expectations.js'
import { type AnyActor, actorNamed, groupFacts, projectFacts } from './verdict.js'
import { makeWorld } from './world.js'

const NAMES: readonly AnyActor[] = [...ACTORS, ...INDIRECT]

const aboutActor = (actor: Actor | undefined) =>
  actor && {
    signedIn: actor.user !== null,
    admin: actor.user?.admin,
    external: actor.user?.external,
    by: actor.by,
    scopes: actor.scopes
  }

const aboutProject = (project: ProjectAccess | undefined, actor: Actor) =>
  project && {
    level: levelIn(project, actor),
    visibility: project.visibility_level,
    ...Object.fromEntries((['archived', 'public_builds', ...FEATURES] as const).map(name => [name, !!project[name]]))
  }

const aboutGroup = (group: GroupAccess | undefined, actor: Actor) =>
  group && {
    level: levelInGroup(group, actor),
    visibility: group.visibility_level,
    seesProject: !!group.sees_project
  }

t.test('the actors, projects and groups have the facts of the table', async t => {
  const { tokens, projects, groups } = await makeWorld(async ({ id }) => {
    await execute('update projects set snippets_enabled = 1 where id = ?', [id])
  })
  for (const name of NAMES) {
    const token = tokens[name]
    const found = token === undefined ? nobody : await actorOfToken(token)
    const expected = actorNamed(name)
    t.same(aboutActor(found ?? undefined), aboutActor(expected), name)
    if (!found || !expected) continue
    for (const kind of PROJECTS) {
      const project = aboutProject(await findProject(projects[kind].id, found), found)
      t.same(project, aboutProject(projectFacts(kind, name), expected), `${kind} for ${name}`)
    }
    for (const kind of GROUPS) {
      const group = aboutGroup(await findGroup(groups[kind].id, found), found)
      t.same(group, aboutGroup(groupFacts(kind, name), expected), `the ${kind} group for ${name}`)
    }
  }
})
