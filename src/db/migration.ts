/** One step of the schema. It names statements only, never a model: models change, what has landed does not. */
export interface Migration {
  /** `NUMBER-name`, unique for ever. */
  readonly name: string
  /**
   * Statements, one each. No database takes a change of a table back, so after a crash in the middle all run again: each
   * must be harmless the second time (`if not exists`, `ignore`). An `alter table` that adds or drops columns and keys is:
   * the database makes all of it or nothing, and its refusal the second time is taken as done.
   */
  readonly up: readonly string[]
  readonly down: readonly string[]
}
