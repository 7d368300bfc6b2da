import type { Actor } from '../../../access/actor.js'
import type { LfsOperation } from '../../projects/imports/lfs/batch.js'
import type { LfsServer } from '../../projects/imports/lfs/client.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import type { MirrorRow } from './mirrors.queries.js'

/** What a run works on. */
export interface Work {
  readonly mirror: MirrorRow
  readonly project: ProjectRow
  /** The user in whose name it runs. */
  readonly actor: Actor
  readonly signal: AbortSignal
  /** Whether the project may have files in LFS. */
  readonly usesLfs: boolean
  /** Returns the LFS of the remote; null when it has none. */
  readonly lfs: (operation: LfsOperation) => Promise<LfsServer | null>
}

/** What a mirror keeps encrypted, as JSON. */
export interface MirrorSecret {
  readonly username?: string
  readonly password?: string
  readonly privateKey?: string
}
