// The users to whom an issue or a merge request can be assigned.

import type { ActionOn } from '../../../access/abilities.js'
import { actorOf } from '../../../access/actor.js'
import { ACTOR_USER, type ActorUserColumns, actorUserOf } from '../../../access/actor-user.js'
import { may } from '../../../access/authorize.js'
import { membersOfProject } from '../../../access/membership.js'
import { row, rows } from '../../../db/connect/sql.js'
import type { Level } from '../../../lib/levels.js'
import { findProject } from '../../projects/projects/projects.queries.js'

/**
 * Returns the id if this user may be the assignee of something in the project, otherwise undefined: the user must not
 * be blocked, and may do `reading` there. Decided: the same rule holds for the assignee of a confidential issue.
 */
export async function assignable(
  projectId: number,
  userId: number,
  reading: ActionOn<'project'>
): Promise<number | undefined> {
  const found = await row<ActorUserColumns>(`select ${ACTOR_USER} from users u where u.id = ? and u.state = 'active'`, [
    userId
  ])
  if (!found) return undefined
  const actor = actorOf(actorUserOf(found), 'private')
  const project = await findProject(projectId, actor)
  return project && may(actor, reading, project) ? found.id : undefined
}

/** A member whom a form offers as assignee. */
export interface OfferedMember {
  readonly id: number
  readonly name: string
  readonly username: string
}

/** How many members a form offers. */
const MOST_OFFERED = 200

/** Returns the first active members of a project with at least this level, sorted by name. */
export function offeredMembers(projectId: number, least: Level): Promise<OfferedMember[]> {
  const { sql, values } = membersOfProject(projectId, least)
  return rows<OfferedMember>(
    `select u.id, u.name, u.username from (select distinct d.user_id from (${sql}) d) member
     straight_join users u on u.id = member.user_id where u.state = 'active' order by u.name, u.id limit ${MOST_OFFERED}`,
    values
  )
}
