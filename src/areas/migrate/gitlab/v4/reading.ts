// What the records of a project of GitLab are read with.
import type { Client } from '../../sources/client.js'
import type { Skipped } from '../../sources/source.js'
import type { Project } from './shapes.js'

export interface Reading {
  readonly client: Client
  readonly base: URL
  readonly project: Project
  readonly skipped: Skipped
  /** The path of the project in the API. */
  readonly path: string
  /** Dates what GitLab does not date. */
  readonly created: string
  /** The names of the environments. */
  readonly environments: Set<string>
  /** The titles of the labels: a list of the board needs one. */
  readonly labels: Set<string>
  /** The iid here by the id at the source: a project also uses milestones of its groups. */
  readonly milestones: Map<number, number>
}

/** A deployment, until its job gets its number. */
export interface Deployed {
  readonly iid: number
  readonly environment: string
  readonly ref: string
  readonly tag: boolean
  readonly sha: string
  readonly user: string | null
  readonly created_at: string
}
