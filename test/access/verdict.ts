// The verdict of the permission table about a request: the result of `authorize`, with facts from this file instead of
// a database. `facts.test.ts` checks that the world of the matrix has the same facts.
import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import { type Action, type ActionOn, abilityOf } from '../../src/access/abilities.js'
import { type Actor, actorOf, nobody } from '../../src/access/actor.js'
import {
  answersEmpty,
  authorize,
  authorizeGroup,
  authorizeProject,
  type GroupAccess,
  type ProjectAccess,
  requireScope,
  requireUser
} from '../../src/access/authorize.js'
import { DEVELOPER, GUEST, INTERNAL, MASTER, OWNER, PRIVATE, PUBLIC, REPORTER } from '../../src/lib/levels.js'
import { answerTo } from '../../src/server/plugins/errors.js'
import type { ActorName, IndirectName } from './actors.js'
import type { GroupKind, ProjectKind } from './expectations.js'

export type AnyActor = ActorName | IndirectName

/** The project or group in the path, if there is one. */
export interface Subject {
  readonly project?: ProjectKind
  readonly group?: GroupKind
}

export interface Verdict {
  /** Undefined when the table allows the request; the rules of its area may still refuse it. */
  readonly refused: number | undefined
  readonly why: string
}

/** The id of the owner; the other actors do not need their own ids. */
const OWNER_ID = 1

/** Returns undefined for actors whose credentials the server refuses before it knows an actor. */
export function actorNamed(name: AnyActor): Actor | undefined {
  if (name === 'blocked' || name === 'wrong') return undefined
  if (name === 'nobody') return nobody
  const owns = name === 'owner' || name === 'readUser'
  const user = { id: owns ? OWNER_ID : 2, username: name, name, email: `${name}@example.org` }
  const actor = actorOf({ ...user, admin: name === 'admin', external: name === 'external' }, 'private')
  return name === 'readUser' ? { ...actor, by: 'personal', scopes: ['read_user'] } : actor
}

const LEVELS: { readonly [Name in AnyActor]?: number } = {
  guest: GUEST,
  reporter: REPORTER,
  developer: DEVELOPER,
  master: MASTER
}
/** In the project of a group, the level of these actors comes from the group or a share. */
const BY_GROUP = { owner: OWNER, readUser: OWNER, groupDeveloper: DEVELOPER, sharedReporter: REPORTER }

export function projectFacts(kind: ProjectKind, actor: AnyActor): ProjectAccess {
  const levels = { ...LEVELS, ...(kind === 'grouped' && BY_GROUP) }
  const visibility = { private: PRIVATE, privateClosed: PRIVATE, grouped: PRIVATE, internal: INTERNAL }
  return {
    visibility_level: visibility[kind as keyof typeof visibility] ?? PUBLIC,
    access_level: levels[actor] ?? null,
    namespace_owner_id: kind === 'grouped' ? null : OWNER_ID,
    archived: kind === 'archived',
    public_builds: kind !== 'privateClosed' && kind !== 'closedBuilds',
    issues_enabled: true,
    merge_requests_enabled: true,
    builds_enabled: kind !== 'withoutBuilds',
    wiki_enabled: true,
    snippets_enabled: true
  }
}

export function groupFacts(kind: GroupKind, actor: AnyActor): GroupAccess {
  const levels = { ...LEVELS, owner: OWNER, readUser: OWNER }
  return {
    visibility_level: { private: PRIVATE, internal: INTERNAL, public: PUBLIC, holding: PRIVATE }[kind],
    access_level: levels[actor as keyof typeof levels] ?? null,
    sees_project: kind === 'holding'
  }
}

/** Judges a request on a route with this configuration. */
export function verdictOf({ can }: FastifyContextConfig, name: AnyActor, subject: Subject): Verdict {
  if (can === undefined) return { refused: undefined, why: 'the route is public' }
  const actor = actorNamed(name)
  if (!actor) return { refused: 401, why: 'the credentials are refused' }
  try {
    if (actor !== nobody) requireScope(actor, can)
    requireUser(actor, can)
    return { refused: undefined, why: check(actor, can, name, subject) }
  } catch (error) {
    const { status } = answerTo(error, {} as FastifyRequest)
    return { refused: status, why: String(error) }
  }
}

function check(actor: Actor, can: Action, name: AnyActor, { project, group }: Subject): string {
  const ability = abilityOf(can)
  if (ability.on === 'instance') authorize(actor, can as ActionOn<'instance'>)
  if (ability.on === 'group' && group) authorizeGroup(actor, can as ActionOn<'group'>, groupFacts(group, name))
  if (ability.on !== 'project' || !project) return 'allowed'
  const facts = projectFacts(project, name)
  if (ability.before !== undefined) authorizeProject(actor, ability.before as ActionOn<'project'>, facts)
  authorizeProject(actor, can as ActionOn<'project'>, facts)
  return answersEmpty(can as ActionOn<'project'>, facts) ? 'an empty list' : 'allowed'
}
