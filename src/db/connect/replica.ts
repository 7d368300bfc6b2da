// Lists that may be a few seconds old are read from a second server, `database.read_url`: a replica of the writing server. Only
// `oldRows` (sql.ts) reads there, so each such list is chosen by its query; nothing that decides about access is among them.
//   1. each second, a row of the writing server gets its time, and the replica is asked for that row
//   2. the difference is how far the replica is behind; both times come from the clock of the writing server
//   3. if it is late, away or slow, all reads go to the writing server until it has caught up
import type { Pool } from 'mysql2'
import { config } from '../../config.js'
import { requestScope } from '../../lib/request-scope.js'
import { log } from '../../log.js'
import { openPool, withPool } from './connection.js'
import { FairPool } from './fair-pool.js'

/** Milliseconds for which a look at the replica is valid. */
export const VALID_MS = 3000
/** Milliseconds without reads after one has failed there, although the replica answers looks. */
const REST_MS = 5000

export interface ReplicaState {
  /** Whether reads go to the replica. */
  readonly up: boolean
  /** Milliseconds by which it was behind at the last look, at most; null when it did not answer. */
  readonly lateMs: number | null
  /** Reads that failed there since the process started, and went to the writing server. */
  readonly failed: number
}

const UNKNOWN: ReplicaState = { up: false, lateMs: null, failed: 0 }
const NEVER = Number.NEGATIVE_INFINITY
let current: Pool | undefined
let validUntil = NEVER
let restsUntil = NEVER
let state = UNKNOWN

withPool({
  open: () => undefined,
  close: async () => {
    const open = current
    current = undefined
    validUntil = NEVER
    restsUntil = NEVER
    state = UNKNOWN
    await open?.promise().end()
  }
})

/** The connections to the replica. Clients share them as they share those to the writing server. */
export const replica = {
  fair: new FairPool(),
  open: (): Pool => {
    current ??= openPool(config().database.read_url, [
      'set session transaction read only',
      // A node of a cluster need not wait for the others here.
      'set session wsrep_sync_wait = 0'
    ])
    return current
  }
}

/** Whether the configuration names a replica. */
export const hasReplica = (): boolean => config().database.read_url !== null

/** Returns the state of the replica at the last look of this process. */
export const replicaState = (): ReplicaState => state

/**
 * Seconds after a write of a user for which the user reads nothing from the replica. A read shows what was written `read_lag` before the
 * last look, which is at most VALID_MS old. The rest is for a write that takes place a while after it was noted.
 */
export const ownWriteSeconds = (): number => config().database.read_lag + (2 * VALID_MS) / 1000

/**
 * Whether a read of the current request may go to the replica: it is in time, the request has asked for this, and its user has not
 * written lately. An answer that is kept for others must be new.
 */
export async function mayReadOld(): Promise<boolean> {
  const scope = requestScope.getStore()
  if (!scope?.mayReadOld || scope.reading || performance.now() >= validUntil) return false
  // The look may be over when the answer is here.
  return (await scope.mayReadOld()) && performance.now() < validUntil
}

/** Notes that a read has failed. No read goes to the replica for some seconds. */
export function leaveReplica(error: unknown): void {
  state = { ...state, failed: state.failed + 1 }
  restsUntil = performance.now() + REST_MS
  failReplica(error)
}

/** Stops reads until the replica has answered a look. */
export function failReplica(error: unknown): void {
  if (state.up)
    log().warn({ error: String(error) }, 'the replica of the database failed: its reads go to the writing server')
  validUntil = NEVER
  state = { ...state, up: false, lateMs: null }
}

/** Notes how far the replica was behind at a look that began at `began`, by `performance.now()`. */
export function noteLateness(lateMs: number, began: number): void {
  if (performance.now() < restsUntil) return
  const up = lateMs <= config().database.read_lag * 1000
  if (up && !state.up) log().info({ lateMs }, 'lists that may be old are read from the replica')
  if (!up && state.up) log().warn({ lateMs }, 'the replica is behind: its reads go to the writing server')
  validUntil = up ? began + VALID_MS : NEVER
  state = { ...state, up, lateMs }
}
