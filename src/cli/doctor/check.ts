// Defines a check of `gitstead doctor`, its result, and the errors by which it fails.

export interface CheckContext {
  /** True: look at every repository and file. False: look at a sample. */
  readonly all: boolean
  /** Whether the server answers. */
  readonly serverUp: boolean
  readonly now: Date
  /** Where the server answers. */
  readonly serverUrl: string
  /** Shows how far a long check has come. */
  readonly progress?: (what: string, done: number, total: number) => void
}

export interface Check {
  readonly name: string
  readonly about: string
  /** What the check needs: a database that answers, or (`rows`) one that also has the schema of this version. */
  readonly needs?: 'database' | 'rows'
  /** What the check found, in one line. Throws Ailment for a fault, and NotExamined when it cannot be examined now. */
  examine(context: CheckContext): Promise<string> | string
  /** Repairs what can be repaired without a loss, and says what it did. Only --fix calls it, after an Ailment. */
  mend?(context: CheckContext): Promise<string> | string
}

/** A fault that a check found, and what to do about it. */
export class Ailment extends Error {
  constructor(
    found: string,
    readonly remedy: string,
    /** One line for each thing that has the fault. */
    readonly details: readonly string[] = []
  ) {
    super(found)
  }
}

/** The check could not be made; this says nothing about the health of what it checks. */
export class NotExamined extends Error {}

export interface CheckResult {
  readonly name: string
  readonly ok: boolean
  /** The check was not made; `found` says why. */
  readonly skipped: boolean
  /** What the check found, in one line. After a repair: what it found then. */
  readonly found: string
  readonly details: readonly string[]
  /** What to do; null when the check found no fault. */
  readonly remedy: string | null
  /** What --fix did; null when it did nothing. */
  readonly mended: string | null
}

/** A number with its noun, such as `1 job` or `3 jobs`. */
export const count = (number: number, one: string, many = `${one}s`) => `${number} ${number === 1 ? one : many}`
