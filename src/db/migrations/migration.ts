/**
 * One step of the schema. It contains statements only, never a model: models change, but a migration that has landed
 * must not.
 */
export interface Migration {
  /** `NUMBER-name`, unique for ever. */
  readonly name: string
  /**
   * SQL statements, one per element. Databases do not roll back a change of a table. After a crash in the middle all
   * statements run again, so each must be harmless the second time (`if not exists`, `ignore`). An `alter table` that adds
   * or drops columns and keys is harmless: the database makes all of its changes or none, and the error that it gives the
   * second time counts as done.
   *
   * A column names neither character set nor collation, so that it gets the exact one (db/connect/collations.ts); only prose
   * names its own.
   */
  readonly up: readonly string[]
  readonly down: readonly string[]
  /** Of a table that `down` drops: the condition of the rows that it has copied elsewhere, which are not lost. */
  readonly carried?: { readonly [table: string]: string }
}
