// What a check is, and how one fails.

export interface CheckContext {
  /** Look at every repository and file, not at a sample of them. */
  readonly all: boolean
  /** Whether the server answers. */
  readonly serverUp: boolean
  readonly now: Date
}

export interface Check {
  readonly name: string
  readonly about: string
  /** What it asks: `rows` needs a database whose schema is this version's. */
  readonly needs?: 'database' | 'rows'
  /** What was found, in one line. Throws Ailment where it is not well, NotExamined where nothing can be said. */
  examine(context: CheckContext): Promise<string> | string
  /** Mends what can be mended without a loss; gives what it did. Called with --fix alone, after an Ailment. */
  mend?(context: CheckContext): Promise<string> | string
}

/** What is wrong, and what to do. */
export class Ailment extends Error {
  constructor(
    found: string,
    readonly remedy: string,
    /** One line for each thing that is meant. */
    readonly details: readonly string[] = []
  ) {
    super(found)
  }
}

/** It could not be looked at, which is no fault of what was to be looked at. */
export class NotExamined extends Error {}

export interface CheckResult {
  name: string
  ok: boolean
  /** It was not looked at; `found` says why. */
  skipped: boolean
  /** What was found, in one line; after mending, what was found then. */
  found: string
  details: string[]
  /** What to do; null when all is well. */
  remedy: string | null
  /** What --fix did; null when it did nothing. */
  mended: string | null
}

export const count = (number: number, one: string, many = `${one}s`) => `${number} ${number === 1 ? one : many}`
