// Defines a check of `gitstead doctor`, its result, and the errors that it throws.
import type { CheckName } from './names.js'

export interface CheckContext {
  /** True: check every repository and file. False: check a sample. */
  readonly all: boolean
  /** Whether the server answers. */
  readonly serverUp: boolean
  readonly now: Date
  /** The URL at which the server answers. */
  readonly serverUrl: string
  /** Shows the progress of a long check. */
  readonly progress?: (what: string, done: number, total: number) => void
}

/** A result without a fault, and what the operator should do nevertheless. */
interface Advice {
  readonly found: string
  readonly next: string
}

export interface Check {
  readonly name: CheckName
  readonly about: string
  /** What the check needs: a database that answers, or (`rows`) a database that also has the schema of this version. */
  readonly needs?: 'database' | 'rows'
  /** Returns what the check found, in one line, perhaps with advice. Throws Ailment for a fault, and NotExamined when it cannot check now. */
  examine(context: CheckContext): Promise<string | Advice> | string | Advice
  /** Repairs what can be repaired without a loss, and returns what it did. Only --fix calls it, after an Ailment. */
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

/** The check was not possible, so it is unknown whether there is a fault. */
export class NotExamined extends Error {}

export interface CheckResult {
  readonly name: CheckName
  readonly ok: boolean
  /** The check was not possible; `found` says why. */
  readonly skipped: boolean
  /** What the check found, in one line. After a repair: what it found then. */
  readonly found: string
  readonly details: readonly string[]
  /** What to do about the fault; null when there is none. */
  readonly remedy: string | null
  /** What to do although there is no fault, such as after the installation; null when there is nothing. */
  readonly next: string | null
  /** What --fix did; null when it did nothing. */
  readonly mended: string | null
}
