// Descriptions of new issues and merge requests may contain slash commands, which an area above reads.
import type { Actor } from '../../../access/actor.js'
import { plug } from '../../../lib/plug.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import type { TargetType } from './targets.js'

/** The values that commands in a description read and change. */
interface Described {
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

/** Runs the commands in the description of a request. Returns the changed body, without them in the description. */
export const withCommands: ReadDescription = async (type, project, body, actor) =>
  (await descriptionReader())(type, project, body, actor)
