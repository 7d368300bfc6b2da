// Finds the build that a runner names, and checks that the runner holds it.
import { timingSafeEqual } from 'node:crypto'
import type { BuildStatus } from '../../../../ci/status.js'
import { marks, padded, rows } from '../../../../db/connect/sql.js'
import { sharing } from '../../../../lib/single-flight.js'
import { tokenHash } from '../../../../secrets.js'
import { WrongToken } from './wrong-token.js'

/** The response to a runner that does not hold a build. `status` is that of a build that it held before: then the token was right. */
export class NotHeld extends WrongToken {
  constructor(readonly status: BuildStatus | null = null) {
    super(status === null)
  }
}

/** A running build, and the hash of its token. */
export interface HeldBuild {
  readonly buildId: number
  readonly pipelineId: number
  readonly projectId: number
  readonly runnerId: number | null
  readonly attempt: number
  readonly status: BuildStatus
  readonly token: Buffer
  /** Seconds; negative after its end. */
  readonly leaseLeft: number | null
  /** The end of its trace that is not shown yet, encrypted. */
  readonly tail: Buffer | null
}

interface FoundBuild extends Omit<HeldBuild, 'token'> {
  readonly token: Buffer | null
  readonly spent: Buffer | null
}

/** Concurrent requests, as many runners send them, share one statement. */
const find = sharing(async (ids: readonly number[]) => {
  const known = padded(ids)
  const found = await rows<FoundBuild>(
    `select b.id as buildId, b.pipeline_id as pipelineId, b.project_id as projectId, b.runner_id as runnerId, b.attempt,
       b.status, b.token_hash as token, b.spent_token_hash as spent, timestampdiff(second, now(3), b.lease_until) as leaseLeft,
       b.trace_tail_encrypted as tail
     from builds b join projects p on p.id = b.project_id where b.id in (${marks(known)})`,
    known
  )
  return new Map(found.map(build => [build.buildId, build]))
})

/**
 * Returns the running build with this id and this token. Throws NotHeld: with the status of the build when its token
 * was valid until the build ended, otherwise without.
 */
export async function requireHeld(id: number, token: string | undefined): Promise<HeldBuild> {
  const found = token === undefined || !isId(id) ? undefined : await find(id)
  if (!found || token === undefined) throw new NotHeld()
  const hash = tokenHash(token)
  if (found.status === 'running' && found.token && timingSafeEqual(found.token, hash)) {
    return { ...found, token: found.token }
  }
  throw new NotHeld(found.spent && timingSafeEqual(found.spent, hash) ? found.status : null)
}

/** Returns the running build of a runner, or undefined. For runners of the first protocol, which send their own token. */
export async function heldBy(runnerId: number, id: number): Promise<HeldBuild | undefined> {
  const found = isId(id) ? await find(id) : undefined
  if (found?.status !== 'running' || found.runnerId !== runnerId || !found.token) return undefined
  return { ...found, token: found.token }
}

/** No other number fits the column. */
const isId = (id: number) => id > 0 && id < 2 ** 32
