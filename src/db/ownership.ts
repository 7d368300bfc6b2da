// What goes with what: one line for each table. Removal, deletion of users, backup and restore read it, and list no tables
// by hand. test/db/ownership.test.ts compares it with the schema: a table or an id column without its line fails there.
// A new table needs its line here and, where it belongs to a project or names a user, a row in test/helpers/owned-rows.ts.

/** Tables whose rows own rows of others. */
export type Owner =
  | 'users'
  | 'namespaces'
  | 'projects'
  | 'pipelines'
  | 'builds'
  | 'runners'
  | 'ref_changes'
  | 'runners'
  | 'hooks'
  | 'hook_deliveries'
  | 'jobs'

/**
 * What becomes of a row when its owner goes:
 * - deleted: it goes in the same transaction
 * - removed: it has gone before, by a rule of its own, as others are told that it goes
 * - erased: a job deletes it afterwards, in batches; for what may be much, or has files
 * - nulled: it stays, and the column becomes null in the same transaction
 * - forgotten: it stays, and a job makes the column null afterwards, by ranges, as no index finds it by that column
 * - kept: it stays as it is, with the number of an owner who is gone
 */
export type Fate = 'deleted' | 'removed' | 'erased' | 'nulled' | 'forgotten' | 'kept'

export type Condition = readonly [column: string, value: string]

export interface Link {
  readonly to: Owner
  /** Holds the owner's id. */
  readonly column: string
  readonly fate: Fate
  /** Only rows whose other column has this value link to this owner: the type of a polymorphic pair. */
  readonly when?: Condition
}

/** How rows come back when one project is restored. */
export interface Restoring {
  /** Only rows with this value. */
  readonly only?: Condition
  /** Columns that say who works on the row at this moment: nobody does when it comes back. */
  readonly empty?: readonly string[]
}

export interface Line {
  readonly owners?: readonly Link[]
  /** Columns whose names end in `_id` and that link to no owner. */
  readonly others?: readonly string[]
  /** Columns that the key in secrets.json opens. */
  readonly encrypted?: readonly string[]
  /** Backups leave the rows out: they say who does what at this moment, which nobody does in a restored copy. */
  readonly backup?: false
  /** False: the rows stay away when their project comes back out of a backup. */
  readonly restore?: Restoring | false
}

const link =
  (fate: Fate) =>
  (to: Owner, column: string, when?: Condition): Link => ({ to, column, fate, ...(when && { when }) })

const deletedWith = link('deleted')
const removedBefore = link('removed')
const erasedAfter = link('erased')
const nulledWith = link('nulled')
const forgottenAfter = link('forgotten')
const keptAfter = link('kept')

const LINES = {
  // People.
  users: { others: ['theme_id', 'color_scheme_id'] },
  ssh_keys: { owners: [deletedWith('users', 'user_id')] },
  emails: { owners: [deletedWith('users', 'user_id')] },
  access_tokens: { owners: [deletedWith('users', 'user_id')], encrypted: ['encrypted'] },
  // A copy elsewhere does not let in browsers that signed in to the original.
  sessions: { owners: [deletedWith('users', 'user_id')], backup: false },
  identities: { owners: [deletedWith('users', 'user_id')] },
  namespaces: { owners: [deletedWith('users', 'owner_id', ['kind', 'user'])] },
  members: {
    owners: [
      deletedWith('users', 'user_id'),
      deletedWith('namespaces', 'source_id', ['source_type', 'namespace']),
      deletedWith('projects', 'source_id', ['source_type', 'project'])
    ]
  },

  // A project that is shared with a group.
  project_group_links: {
    owners: [deletedWith('projects', 'project_id'), deletedWith('namespaces', 'group_id')]
  },

  // Projects.
  projects: {
    owners: [removedBefore('namespaces', 'namespace_id'), nulledWith('users', 'creator_id')],
    encrypted: ['runners_token_encrypted'],
    restore: { empty: ['optimise_at'] }
  },
  // Written when the project goes; the end of its removal deletes it.
  project_removals: { owners: [keptAfter('projects', 'project_id')] },
  repository_upkeeps: { owners: [deletedWith('projects', 'project_id')], restore: false },

  // CI.
  pipelines: {
    // Ref changes go when they are old.
    owners: [
      erasedAfter('projects', 'project_id'),
      forgottenAfter('users', 'user_id'),
      keptAfter('ref_changes', 'ref_change_id')
    ]
  },
  builds: {
    owners: [
      erasedAfter('projects', 'project_id'),
      erasedAfter('pipelines', 'pipeline_id'),
      forgottenAfter('users', 'user_id'),
      // A build whose runner is gone shows none.
      keptAfter('runners', 'runner_id')
    ],
    others: ['process_id'],
    restore: { empty: ['token_hash', 'process_id', 'lease_until'] }
  },
  // Counts of builds. Builds come back canceled, and the next change of their pipeline counts them anew.
  pipeline_stages: { owners: [erasedAfter('pipelines', 'pipeline_id')], restore: false },
  runners: { encrypted: ['token_encrypted'] },
  runner_projects: { owners: [deletedWith('runners', 'runner_id'), deletedWith('projects', 'project_id')] },
  ref_changes: {
    owners: [erasedAfter('projects', 'project_id'), forgottenAfter('users', 'user_id')],
    others: ['old_id', 'new_id'],
    // Nobody would settle one that is open.
    restore: { only: ['state', 'done'] }
  },

  // What users did to projects: the feed shows nothing whose project or author is gone.
  activity_events: {
    owners: [erasedAfter('projects', 'project_id'), erasedAfter('users', 'author_id')],
    others: ['happening_id', 'target_id', 'note_id']
  },

  // Hooks, of projects and of the appliance. Deliveries outlive their hook until old_deliveries removes them: they tell
  // what was sent.
  hooks: { owners: [deletedWith('projects', 'project_id')], encrypted: ['token_encrypted'] },
  hook_deliveries: { owners: [keptAfter('hooks', 'hook_id')] },
  hook_attempts: { owners: [deletedWith('hook_deliveries', 'delivery_id')] },

  // The appliance.
  application_settings: {},
  broadcast_messages: {},
  // Names beside the ids: the record of a change outlives who made it and what it was made to.
  audit_events: { owners: [keptAfter('users', 'actor_id')], others: ['target_id'] },
  maintenance_runs: {},
  maintenance_locks: { backup: false },

  // The queue. Jobs are backed up: nothing that was accepted is lost. Processes that are gone give their jobs back.
  jobs: { others: ['process_id'] },
  job_failures: { owners: [deletedWith('jobs', 'job_id')] },
  job_processes: { backup: false },
  job_totals: {},
  paused_queues: {},
  queue_minutes: { others: ['process_id'] },
  schedule_ticks: { backup: false }
} satisfies { readonly [table: string]: Line }

export type TableName = keyof typeof LINES

export const OWNERSHIP: Readonly<Record<TableName, Line>> = LINES

/** All tables, in the order of their lines. */
export const TABLES = Object.keys(OWNERSHIP) as readonly TableName[]

/** How a table's rows come back with one project; null when they do not. */
export function restoringOf(table: TableName): Restoring | null {
  const { restore = {} } = OWNERSHIP[table]
  return restore === false ? null : restore
}

/** A link with the table whose rows it is of. */
export interface OwnedTable {
  readonly table: TableName
  readonly link: Link
}

/** Whether the rows go when their owner goes. */
export const goesWith = ({ fate }: Link): boolean => fate === 'deleted' || fate === 'erased'

export const ownersOf = (table: TableName): readonly Link[] => OWNERSHIP[table].owners ?? []

/** Every table after those that its rows go with: the order in which rows are put in. Deletion takes the other way round. */
const OWNERS_FIRST = inOrder()

function inOrder(): readonly TableName[] {
  const order = new Set<TableName>()
  const begun = new Set<TableName>()
  const visit = (table: TableName) => {
    if (begun.has(table)) return
    begun.add(table)
    for (const owner of ownersOf(table)) if (goesWith(owner)) visit(owner.to)
    order.add(table)
  }
  TABLES.forEach(visit)
  return [...order]
}

/** All links to an owner, in the order in which rows are deleted: what belongs to a table comes before the table. */
export const linksTo = (owner: TableName): readonly OwnedTable[] =>
  [...OWNERS_FIRST].reverse().flatMap(table =>
    ownersOf(table)
      .filter(({ to }) => to === owner)
      .map(found => ({ table, link: found }))
  )

/** The owner's table, and all whose rows go with it directly or by way of others, in the order in which they are put in. */
export function tablesOf(owner: Owner): readonly TableName[] {
  const found = new Set<TableName>([owner])
  for (const table of OWNERS_FIRST) {
    if (ownersOf(table).some(each => goesWith(each) && found.has(each.to))) found.add(table)
  }
  return [...found]
}

/** Tables whose rows backups leave out, by name. */
export const leftOutOfBackups = (): readonly TableName[] =>
  TABLES.filter(table => OWNERSHIP[table].backup === false).sort()

/** All columns that the key in secrets.json opens. */
export const encryptedColumns = (): readonly (readonly [table: TableName, column: string])[] =>
  TABLES.flatMap(table => (OWNERSHIP[table].encrypted ?? []).map(column => [table, column] as const))
