// Gives objects of git LFS to another server, before the commits that name them.
import { Limiter } from '../../../../lib/limiter.js'
import { type LfsKey, openLfsObject } from '../../../../storage/lfs.js'
import { SourceRefusal } from '../source-failures.js'
import { questions } from './batch.js'
import { type LfsServer, openLfsClient } from './client.js'

const AT_ONCE = 4

/** The object is lost here, so that nobody can send it. */
class LostObject extends SourceRefusal {}

/** Sends those objects that the server lacks. Returns how many. Throws NoLfs and other SourceFailures. */
export async function sendObjects(server: LfsServer, keys: readonly LfsKey[], signal: AbortSignal): Promise<number> {
  const client = openLfsClient(server, signal)
  const lanes = new Limiter({ capacity: AT_ONCE })
  let sent = 0
  try {
    for (const some of questions(keys)) {
      signal.throwIfAborted()
      const plan = await client.plan('upload', some)
      const refused = plan.find(({ refusal }) => refusal !== null)
      if (refused)
        throw new SourceRefusal(server.endpoint, `refuses the file ${refused.key.oid} in LFS: ${refused.refusal}`)
      const missing = plan.filter(({ action }) => action !== null)
      const results = await Promise.allSettled(
        missing.map(planned =>
          lanes.run({ signal }, () => client.upload(planned, () => openObject(server, planned.key)))
        )
      )
      const failed = results.find(result => result.status === 'rejected')
      if (failed) throw failed.reason
      sent += missing.length
    }
    return sent
  } finally {
    client.close()
  }
}

async function openObject({ endpoint }: LfsServer, { oid }: LfsKey) {
  const found = await openLfsObject(oid)
  if (!found) throw new LostObject(endpoint, `cannot get the file ${oid} in LFS, which is lost here`)
  return found.stream
}
