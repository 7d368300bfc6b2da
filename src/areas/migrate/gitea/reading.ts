// What the records of a repository of Gitea are read with.
import type { Skipped } from '../sources/source.js'
import type { Forge } from './lists.js'
import type { Repository } from './shapes.js'

interface Timelog {
  readonly user: string | null
  readonly time_spent: number
  readonly created_at: string
}

export interface Reading extends Forge {
  readonly repository: Repository
  readonly skipped: Skipped
  /** The path of the repository in the API. */
  readonly path: string
  /** Gogs has fewer lists: none of reactions, reviews, pull requests or times. */
  readonly isGogs: boolean
  /** Dates what Gitea does not date. */
  readonly created: string
  /** Others have neither teams nor labels of an organization. */
  readonly isOfOrganization: boolean
  /** The iid here by the id at the source. Milestones have no other number there. */
  readonly milestones: Map<number, number>
  readonly timelogs: Map<number, Timelog[]>
  /** The numbers of the pull requests: texts need them. */
  readonly pulls: Set<number>
}
