// What every file of test/attack exports as `attack`, and the appliance that it gets to attack.
import type { Appliance } from '../../scenarios/appliance.js'
import type { ApiAnswer } from '../../scenarios/client.js'

export interface Attack {
  /** One short name, as the line of the result shows it. */
  readonly name: string
  /** What the attacker does, in one line. */
  readonly about: string
  readonly limit: Limit
  /** Attacks, and returns the statuses that the appliance answered. Throws an error for anything else that is wrong. */
  run(stand: Stand): Promise<readonly number[]>
}

export interface Limit {
  /** How much more memory all processes of the appliance together may take, in MiB. */
  readonly memory: number
  /** How long the whole attack may take on a quiet machine. The short form is not measured against it: a test run is never alone. */
  readonly seconds: number
  /** The statuses that the attacker may get. */
  readonly statuses: readonly number[]
}

/** A running appliance of its own, with an administrator `root`. Attacks share it, so each makes what it needs. */
export interface Ground {
  readonly url: string
  readonly home: string
  /** The private token of the administrator. */
  readonly token: string
  readonly appliance: Appliance
  /** True in the short form of a test run: repeat less where repeating takes the time. */
  readonly short: boolean
  /** Makes an empty folder for the attacker's own files. */
  folder(): string
  /** Asks the API as the administrator, or with another token. */
  ask<T = Record<string, unknown>>(method: string, path: string, body?: unknown, token?: string): Promise<ApiAnswer<T>>
  /** Makes a project of the administrator. `remote` is its URL for a git client, with the token. */
  project(values?: object): Promise<{ readonly id: number; readonly path: string; readonly remote: string }>
}

/** The appliance, on the machine as it is when an attack begins. */
export interface Stand extends Ground {
  /** Returns how many milliseconds this machine may take for what a quiet one does in so many. */
  patience(milliseconds: number): number
}
