import type { Actor } from '../../../access/actor.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import type { MirrorRow } from './mirrors.queries.js'

/** What a run works on. */
export interface Work {
  readonly mirror: MirrorRow
  readonly project: ProjectRow
  /** The user in whose name it runs. */
  readonly actor: Actor
  readonly signal: AbortSignal
}

/** What a mirror keeps encrypted, as JSON. */
export interface MirrorSecret {
  readonly username?: string
  readonly password?: string
  readonly privateKey?: string
}
