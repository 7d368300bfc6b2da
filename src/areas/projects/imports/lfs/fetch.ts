// Brings objects of git LFS from another server. The bytes must come from there even if the appliance has the object already: its hash is
// no proof that the importer may read it.
import type { Readable } from 'node:stream'
import { Unprocessable } from '../../../../errors.js'
import { Limiter } from '../../../../lib/limiter.js'
import type { LfsKey } from '../../../../storage/lfs.js'
import { excessOfObject, excessOfProject } from '../../lfs/objects.js'
import { type SourceFailure, SourceRefusal } from '../source-failures.js'
import { questions } from './batch.js'
import { type LfsServer, NoLfs, openLfsClient } from './client.js'

const AT_ONCE = 4

export interface Fetching {
  readonly server: LfsServer
  readonly keys: readonly LfsKey[]
  /** Bytes of the objects that the project has already. */
  readonly held: number
  readonly signal: AbortSignal
  /** Stores an object. Throws Unprocessable when the content is wrong. */
  readonly store: (key: LfsKey, stream: Readable) => Promise<unknown>
  /** Called for an object that does not come. `excess`: a limit of the appliance stops it; otherwise the other server does not give it. */
  readonly leave: (why: string, key: LfsKey, excess: boolean) => void
  readonly progress?: (done: number) => void
}

/**
 * Gets objects. Throws SourceFailure when the server cannot be reached, or breaks off: objects that have come are stored. Throws what
 * `store` and `leave` throw.
 */
export async function fetchObjects(fetching: Fetching): Promise<void> {
  const { server, keys, signal, leave } = fetching
  const wanted = withinLimits(fetching)
  const client = openLfsClient(server, signal)
  const lanes = new Limiter({ capacity: AT_ONCE })
  let done = keys.length - wanted.length
  const one = async (planned: Awaited<ReturnType<typeof client.plan>>[number]) => {
    const { key } = planned
    try {
      await client.download(planned, stream => fetching.store(key, stream))
    } catch (error) {
      if (error instanceof SourceRefusal) leave(reasonOf(error), key, false)
      else if (error instanceof Unprocessable)
        leave('the source sends other content than the pointer names', key, false)
      else throw error
    }
    fetching.progress?.(++done)
  }
  try {
    for (const some of questions(wanted)) {
      signal.throwIfAborted()
      const plan = await client.plan('download', some)
      const results = await Promise.allSettled(plan.map(planned => lanes.run({ signal }, () => one(planned))))
      const failed = results.find(result => result.status === 'rejected')
      if (failed) throw failed.reason
    }
  } catch (error) {
    if (!(error instanceof NoLfs)) throw error
    for (const key of wanted) leave('the source does not give files of LFS', key, false)
  } finally {
    client.close()
  }
}

function withinLimits({ keys, held, leave }: Fetching): LfsKey[] {
  let sum = held
  return keys.filter(key => {
    const excess = excessOfObject(key.size) ?? excessOfProject(sum + key.size)
    if (excess !== null) leave(excess, key, true)
    else sum += key.size
    return excess === null
  })
}

const reasonOf = ({ status }: SourceFailure) =>
  status === null || status === 404 ? 'the source does not have them' : `the source answers with status ${status}`
