// The type of the `attack` that every file of test/attack exports, and of the appliance that it attacks.
import type { Appliance } from '../../scenarios/appliance.js'
import type { ApiAnswer } from '../../scenarios/client.js'

export interface Attack {
  /** The short name in the line of the result. */
  readonly name: string
  /** The actions of the attacker, in one line. */
  readonly about: string
  readonly limit: Limit
  /** Attacks, and returns the statuses of the appliance. Throws an error for any other fault. */
  run(stand: Stand): Promise<readonly number[]>
}

interface Limit {
  /** How much more memory all processes of the appliance together may use, in MiB. */
  readonly memory: number
  /** How long the whole attack may take on a quiet machine. Not checked in the short form, because a test run shares its machine. */
  readonly seconds: number
  /** The statuses that the attacker may get. */
  readonly statuses: readonly number[]
}

/** A private running appliance with an administrator `root`. Attacks share it, so each makes the records that it needs. */
export interface Ground {
  readonly url: string
  readonly home: string
  /** The private token of the administrator. */
  readonly token: string
  readonly appliance: Appliance
  /** True in the short form of a test run: repeat less where repetition takes time. */
  readonly short: boolean
  /** Makes an empty folder for the attacker's own files. */
  folder(): string
  /** Calls the API as the administrator, or with another token. */
  ask<T = Record<string, unknown>>(method: string, path: string, body?: unknown, token?: string): Promise<ApiAnswer<T>>
  /** Makes a project of the administrator. `remote` is its URL for a git client, with the token. */
  project(values?: object): Promise<{ readonly id: number; readonly path: string; readonly remote: string }>
}

/** The appliance, with the speed of the machine when an attack begins. */
export interface Stand extends Ground {
  /** Returns how many milliseconds this machine may take for work that takes a quiet machine this many. */
  patience(milliseconds: number): number
}
