// The one place that chooses between 401 (nobody), 404 (may not know that it exists) and 403.
import { Forbidden, NotFound, Unauthorized } from '../errors.js'
import { type Ability, type Action, abilities, type ProjectAbility } from './abilities.js'
import type { Actor } from './actor.js'
import { GUEST, INTERNAL, OWNER, PRIVATE, PUBLIC } from './levels.js'

/** What access to a project depends on. */
export interface ProjectAccess {
  readonly visibility_level: number
  readonly archived: boolean | number
  readonly public_builds: boolean | number
  readonly builds_enabled: boolean | number
  /** Of the namespace: a user who owns the project. */
  readonly namespace_owner_id: number | null
  /** Of the asker's own membership; null for none. */
  readonly access_level: number | null
}

/** The asker's effective level in a project, 0 for none. Administrators have everything of an owner. */
export function levelIn(project: ProjectAccess, actor: Actor): number {
  const { user } = actor
  if (!user) return 0
  if (user.admin || project.namespace_owner_id === user.id) return OWNER
  return project.access_level ?? 0
}

/** Whether the asker may know that the project exists. */
export function canSee(project: ProjectAccess, actor: Actor): boolean {
  return levelIn(project, actor) >= GUEST || isOpenTo(project, actor)
}

/** Whether the action is open to the asker, with no error. */
export function may(actor: Actor, action: Action, project: ProjectAccess): boolean {
  const ability: Ability = abilities[action]
  return ability.on === 'project' && canSee(project, actor) && allows(ability, actor, project)
}

/**
 * Throws Unauthorized, NotFound or Forbidden unless the actor may do the action, on the project where it is about one;
 * `undefined` is a project that was not found.
 */
export function authorize(actor: Actor, action: Action, project?: ProjectAccess): void {
  const ability: Ability = abilities[action]
  if (ability.on === 'instance') {
    if (ability.least === 'anybody') return
    if (!actor.user) throw new Unauthorized()
    if (ability.least === 'admin' && !actor.user.admin) throw new Forbidden()
    return
  }
  if (!actor.user && !ability.anonymous) throw new Unauthorized()
  if (!project || !canSee(project, actor)) throw new NotFound('Project')
  if (!allows(ability, actor, project)) throw new Forbidden()
}

function allows(ability: ProjectAbility, actor: Actor, project: ProjectAccess): boolean {
  if (ability.feature && !project[ability.feature]) return false
  if (ability.writes && project.archived) return false
  if (levelIn(project, actor) >= ability.least) return true
  const publicBuilds = ability.publicBuilds !== undefined && Boolean(project.public_builds)
  // A guest of a private project is no stranger, and may less than one of an open project.
  if (publicBuilds && levelIn(project, actor) >= GUEST) return true
  if (!ability.strangers || !isOpenTo(project, actor)) return false
  if (!actor.user && !ability.anonymous) return false
  return publicBuilds || ability.publicBuilds !== 'everybody'
}

function isOpenTo(project: ProjectAccess, actor: Actor): boolean {
  if (project.visibility_level === PRIVATE) return false
  if (project.visibility_level === PUBLIC) return true
  return project.visibility_level === INTERNAL && actor.user !== null && !actor.user.external
}
