// Descriptions of new issues and merge requests may have slash commands, which an area above reads.
import type { Actor } from '../../../access/actor.js'
import { plug } from '../../../lib/plug.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import type { TargetType } from './targets.js'

/** What commands of a description look at and change. */
export interface Described {
  readonly title: string
  readonly description?: string | null
  readonly labels?: string | null
}

export type ReadDescription = <Body extends Described>(
  type: TargetType,
  project: ProjectRow,
  body: Body,
  actor: Actor
) => Promise<Body>

export const descriptionReader = plug<ReadDescription>('descriptionReader')

/** Returns what a user asks for with the commands of its description, which are no part of the description then. */
export const withCommands: ReadDescription = async (type, project, body, actor) =>
  (await descriptionReader())(type, project, body, actor)
