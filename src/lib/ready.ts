// What the processes of `gitstead up` say to it.

/** What the operator of an appliance without an administrator needs. */
export interface FirstRun {
  /** Makes the first administrator, so it is a secret. */
  readonly link: string
  /** How long the link works. */
  readonly hours: number
  /** Whether strangers can make accounts. */
  readonly signUp: boolean
}

/** What a process says to its parent when it is ready. */
export interface Ready {
  readonly port?: number
  readonly firstRun?: FirstRun
}
