/** One step of the schema. It names statements only, never a model: models change, what has landed does not. */
export interface Migration {
  /** `NUMBER-name`, unique for ever. */
  readonly name: string
  /** Statements, one each. */
  readonly up: readonly string[]
  readonly down: readonly string[]
}
