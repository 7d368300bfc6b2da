// Rules about one record: its owner, its author, its assignee.
import { Forbidden, NotFound, Unauthorized } from '../errors.js'
import { type ActionOn, abilityOf, type RecordAbility } from './abilities.js'
import type { Actor } from './actor.js'
import { levelIn, type ProjectAccess } from './authorize.js'

/** The users whom a record names, and its project. */
export interface RecordAccess {
  readonly owner?: number | null
  readonly author?: number | null
  readonly assignee?: number | null
  readonly project?: ProjectAccess
}

/**
 * Throws Forbidden, NotFound or Unauthorized, as the line of the action requires, unless the actor may do the action on
 * the record. `what` is the name of the record in a NotFound, such as `Personal Access Token`.
 */
export function authorizeRecord(actor: Actor, action: ActionOn<'record'>, record: RecordAccess, what?: string): void {
  if (!actor.user) throw new Unauthorized()
  const ability = abilityOf(action) as RecordAbility
  if (allows(ability, actor, record)) return
  if (ability.refusal === 'missing') throw new NotFound(what)
  throw ability.refusal === 'unauthorized' ? new Unauthorized() : new Forbidden()
}

/** Whether `authorizeRecord` would pass. */
export const mayOnRecord = (actor: Actor, action: ActionOn<'record'>, record: RecordAccess): boolean =>
  actor.user !== null && allows(abilityOf(action) as RecordAbility, actor, record)

function allows({ by, least }: RecordAbility, actor: Actor, record: RecordAccess): boolean {
  if (actor.user?.admin) return true
  if (by.some(role => record[role] === actor.user?.id)) return true
  return least !== undefined && record.project !== undefined && levelIn(record.project, actor) >= least
}
