// The vocabulary of ownership.ts.

/** Tables whose rows own rows of other tables. */
export type Owner =
  | 'users'
  | 'namespaces'
  | 'projects'
  | 'pipelines'
  | 'builds'
  | 'runners'
  | 'ref_changes'
  | 'hooks'
  | 'hook_deliveries'
  | 'mails'
  | 'oauth_applications'
  | 'scim_groups'
  | 'oauth_grants'
  | 'deploy_keys'
  | 'merge_requests'
  | 'labels'
  | 'milestones'
  | 'issues'
  | 'boards'
  | 'snippets'
  | 'notes'
  | 'jobs'

/**
 * What happens to a row when its owner is removed:
 * - deleted: the same transaction deletes the row
 * - removed: a separate rule has removed the row before, because its removal is an event
 * - erased: a job deletes the row afterwards, in batches; for tables with many rows or with files
 * - nulled: the row stays, and the same transaction sets the column to null
 * - forgotten: the row stays, and a job sets the column to null afterwards, in batches; for tables with many rows
 * - kept: the row stays unchanged, with the id of the removed owner
 */
export type Fate = 'deleted' | 'removed' | 'erased' | 'nulled' | 'forgotten' | 'kept'

export type Condition = readonly [column: string, value: string]

export interface Link {
  readonly to: Owner
  /** Contains the id of the owner. */
  readonly column: string
  readonly fate: Fate
  /** Only rows with this value in another column link to this owner: the type column of a polymorphic pair. */
  readonly when?: Condition
  /** The rows that match this condition are a contribution: they can stay when the user is deleted, under the name of another. */
  readonly contribution?: string
}

/** How the restore of one project inserts the rows of a table. */
export interface Restoring {
  /** It inserts only rows with this value. */
  readonly only?: Condition
  /** It sets these columns to null: they refer to current work on the row, and nothing works on a restored row. */
  readonly empty?: readonly string[]
}

export interface Line {
  /**
   * The folder whose code writes the rows: an area, or a wing if several of its areas write them, or a folder next to
   * `areas`. All other code calls functions of that folder.
   */
  readonly writer: string
  readonly owners?: readonly Link[]
  /** Columns whose names end in `_id` but that do not link to an owner. */
  readonly others?: readonly string[]
  /** Columns that are encrypted with the key in secrets.json. */
  readonly encrypted?: readonly string[]
  /** False: backups omit the rows. They describe current work, which does not continue in a restored copy. */
  readonly backup?: false
  /** False: the restore of their project does not insert the rows. */
  readonly restore?: Restoring | false
}

/** Without a column, the column is the name of the owner with `_id`: `project_id` for `projects`. */
const link =
  (fate: Fate) =>
  (to: Owner, column = to.replace(/s$/, '_id'), when?: Condition): Link => ({ to, column, fate, ...(when && { when }) })

export const deletedWith = link('deleted')
export const removedBefore = link('removed')
export const erasedAfter = link('erased')
export const nulledWith = link('nulled')
export const forgottenAfter = link('forgotten')
export const keptAfter = link('kept')

/** The author of rows that can stay without the author. `only` is a condition of SQL. */
export const contribution = (author: Link, only = '1 = 1'): Link => ({ ...author, contribution: only })

/** The names of the tables in the type columns of polymorphic pairs. */
const TYPES = {
  issues: 'Issue',
  merge_requests: 'MergeRequest',
  snippets: 'Snippet',
  notes: 'Note',
  labels: 'Label'
} as const

/** Links `PAIR_id` to each of these tables. `PAIR_type` names the table that owns the row. */
export const deletedWithAny = (pair: 'target' | 'noteable' | 'awardable', tables: readonly (keyof typeof TYPES)[]) =>
  tables.map(table => deletedWith(table, `${pair}_id`, [`${pair}_type`, TYPES[table]]))
