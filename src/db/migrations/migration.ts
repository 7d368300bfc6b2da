/** One step of the schema. It contains only statements, never a model: models change, but a migration that has landed must not. */
export interface Migration {
  /** `NUMBER-name`, permanently unique. */
  readonly name: string
  /**
   * SQL statements, one per element. Databases do not roll back a change of a table. After a crash in the middle all statements
   * run again, so each must be harmless the second time (`if not exists`, `ignore`). An `alter table` that adds or drops columns
   * and keys is harmless: the database makes all of its changes or none, and its error the second time counts as done.
   *
   * A column specifies neither character set nor collation, so that it gets the exact one (db/connect/collations.ts); only prose
   * specifies another one.
   */
  readonly up: readonly string[]
  /** Runs after `up`, in batches: a large table in one statement would fill the memory for its locks. */
  readonly fill?: readonly Fill[]
  readonly down: readonly string[]
  /** For tables that `down` drops: the condition of the rows that it has copied to another table, which are not lost. */
  readonly carried?: { readonly [table: string]: string }
}

/** A statement that derives rows from those of a table. It must be harmless the second time. */
export interface Fill {
  /** The table with the rows, which has a column `id`. */
  readonly of: string
  /** Gets the first and the last id of a batch. */
  readonly each: string
}
