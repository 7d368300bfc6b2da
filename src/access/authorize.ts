// Only this file chooses between 401 (no credentials), 404 (the caller may not know that the subject exists) and 403.
import { Forbidden, InsufficientScope, NotFound, Unauthorized } from '../errors.js'
import { GUEST, INTERNAL, OWNER, PUBLIC } from '../lib/levels.js'
import {
  type Action,
  type ActionOn,
  abilityOf,
  type Feature,
  type GroupAbility,
  type ProjectAbility
} from './abilities.js'
import type { Actor } from './actor.js'
import { EVERYTHING } from './scopes.js'

interface Visible {
  readonly visibility_level: number
  /** The effective level of the caller (membership.ts); null without a level. */
  readonly access_level: number | null
}

/** The facts on which access to a project depends. */
export interface ProjectAccess extends Visible, Readonly<Record<Feature, boolean | number>> {
  readonly archived: boolean | number
  readonly public_builds: boolean | number
  /** The user whose namespace contains the project; null for the project of a group. */
  readonly namespace_owner_id: number | null
}

/** The facts on which access to a group depends. */
export interface GroupAccess extends Visible {
  /** Whether the caller can see at least one project of the group. */
  readonly sees_project: boolean | number
}

/** Returns the caller's effective level in a project, 0 for none. Administrators count as owners. */
export function levelIn(
  project: Pick<ProjectAccess, 'access_level' | 'namespace_owner_id'>,
  { user, deployKey }: Pick<Actor, 'user' | 'deployKey'>
): number {
  if (!user) return deployKey === undefined ? 0 : (project.access_level ?? 0)
  if (user.admin || project.namespace_owner_id === user.id) return OWNER
  return project.access_level ?? 0
}

/** Returns the caller's level in a group, 0 for none. Administrators count as owners. */
export function levelInGroup(group: GroupAccess, { user }: Actor): number {
  if (!user) return 0
  return user.admin ? OWNER : (group.access_level ?? 0)
}

/** Whether the caller may know that the project exists. */
export function canSee(project: ProjectAccess, actor: Actor): boolean {
  return levelIn(project, actor) >= GUEST || isOpenTo(project, actor)
}

/** Whether the caller may know that the group exists. */
export function canSeeGroup(group: GroupAccess, actor: Actor): boolean {
  return levelInGroup(group, actor) >= GUEST || isOpenTo(group, actor) || Boolean(group.sees_project)
}

/** Whether `authorizeProject` would pass. Always false for a part of the project that is switched off. */
export function may(actor: Actor, action: ActionOn<'project'>, project: ProjectAccess): boolean {
  const ability = abilityOf(action) as ProjectAbility
  return canSee(project, actor) && !isOff(ability, project) && allows(ability, actor, project)
}

/**
 * Throws Unauthorized, or InsufficientScope for an OAuth token, unless the scopes of the actor allow this action;
 * `undefined` requires `api`.
 */
export function requireScope({ scopes, by }: Actor, action: Action | undefined): void {
  const accepted = (action && abilityOf(action).scopes) ?? EVERYTHING
  if (accepted.some(scope => scopes.includes(scope))) return
  throw by === 'oauth' ? new InsufficientScope(accepted) : new Unauthorized()
}

/** Throws Unauthorized when the action requires a user and the client sends no credentials. */
export function requireUser({ user, deployKey }: Actor, action: Action): void {
  if (user || deployKey !== undefined) return
  const ability = abilityOf(action)
  const open = ability.on === 'instance' ? ability.least === 'anybody' : 'anonymous' in ability && ability.anonymous
  if (!open) throw new Unauthorized()
}

/** Throws Unauthorized or Forbidden unless the actor may do an action that is not about a project, group or record. */
export function authorize(actor: Actor, action: ActionOn<'instance'>): void {
  requireUser(actor, action)
  const ability = abilityOf(action)
  if (ability.least === 'admin' && !actor.user?.admin) throw new Forbidden()
}

/**
 * Throws Unauthorized, NotFound or Forbidden unless the actor may do the action on the project; `undefined` stands for
 * a project that was not found.
 */
export function authorizeProject(actor: Actor, action: ActionOn<'project'>, project: ProjectAccess | undefined): void {
  requireUser(actor, action)
  const ability = abilityOf(action) as ProjectAbility
  if (!project || !canSee(project, actor)) throw new NotFound('Project')
  if (isOff(ability, project)) {
    if (ability.whenOff === 'empty') return
    throw ability.whenOff === 'missing' ? new NotFound() : new Forbidden()
  }
  if (!allows(ability, actor, project)) throw new Forbidden()
}

const NO_PUSH = 'You are not allowed to push code to this project.'

/** Does the same for fetches and pushes. A user who may not push sees the reason. */
export function authorizeGit(
  actor: Actor,
  action: 'repository.read' | 'repository.write',
  project: ProjectAccess | undefined
): void {
  requireUser(actor, action)
  if (action === 'repository.write' && project?.archived && canSee(project, actor)) {
    throw new Forbidden('the project is archived and refuses pushes')
  }
  try {
    authorizeProject(actor, action, project)
    // A build token is read-only.
    if (action === 'repository.write' && actor.by === 'build') throw new Forbidden()
  } catch (error) {
    throw action === 'repository.write' && error instanceof Forbidden ? new Forbidden(NO_PUSH) : error
  }
}

/** Whether a list is empty because its part of the project is switched off. Call it after `authorizeProject`. */
export function answersEmpty(action: ActionOn<'project'>, project: ProjectAccess): boolean {
  const ability = abilityOf(action) as ProjectAbility
  return ability.whenOff === 'empty' && isOff(ability, project)
}

/** Throws Unauthorized, NotFound or Forbidden unless the actor may do the action on the group. */
export function authorizeGroup(actor: Actor, action: ActionOn<'group'>, group: GroupAccess | undefined): void {
  requireUser(actor, action)
  const ability = abilityOf(action) as GroupAbility
  if (!group || !canSeeGroup(group, actor)) throw new NotFound('Group')
  if (ability.admins && !actor.user?.admin) throw new Forbidden()
  if (levelInGroup(group, actor) < ability.least && !ability.strangers) throw new Forbidden()
}

const isOff = ({ feature }: ProjectAbility, project: ProjectAccess) => feature !== undefined && !project[feature]

function allows(ability: ProjectAbility, actor: Actor, project: ProjectAccess): boolean {
  if (ability.writes && project.archived) return false
  if (ability.admins && !actor.user?.admin) return false
  if (levelIn(project, actor) >= ability.least) return true
  const publicBuilds = ability.publicBuilds !== undefined && Boolean(project.public_builds)
  // A guest of a private project is not a stranger, and may do less there than strangers may on an open project.
  if (publicBuilds && levelIn(project, actor) >= GUEST) return true
  if (!ability.strangers || !isOpenTo(project, actor)) return false
  if (!actor.user && !ability.anonymous) return false
  return publicBuilds || ability.publicBuilds !== 'everybody'
}

/** Whether the caller may see a project or group with this visibility level without being a member. */
export function isOpenTo({ visibility_level: level }: Pick<Visible, 'visibility_level'>, { user }: Actor): boolean {
  if (level === PUBLIC) return true
  return level === INTERNAL && user !== null && !user.external
}
