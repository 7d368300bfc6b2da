// What a ref change brings about in the repository: HEAD, and upkeep before long.
import { execute } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { setHead } from '../../git/repository.js'
import { enqueue } from '../../queue/enqueue.js'
import type { Listener } from '../activity/happenings.js'
import { repositoryPath } from '../projects/repositories.js'
import { findSettledChange } from './ref-changes.queries.js'

/** After these seconds of quiet a pushed repository gets its commit graph. */
const OPTIMISE_AFTER = 10
const HOUR = 3_600_000

export const refEffects: Listener = {
  name: 'refs',
  hear: async ({ happening }) => {
    if (happening.kind === 'ref.changed') await applyRefChange(happening.refChangeId)
  }
}

/** Brings about what the change is to have. A change whose project is gone has nothing left to do. */
export async function applyRefChange(id: number): Promise<void> {
  const change = await findSettledChange(id)
  if (!change) return
  if (change.default_branch !== null && change.ref === `refs/heads/${change.default_branch}`) {
    await setHead(repositoryPath({ id: change.project_id, storage: change.storage }), change.default_branch)
  }
  await scheduleUpkeep(change.project_id)
}

/** Unless it waits already. */
async function scheduleUpkeep(projectId: number): Promise<void> {
  const now = new Date()
  await transact(async () => {
    const runAt = new Date(now.getTime() + OPTIMISE_AFTER * 1000)
    const { affectedRows } = await execute(
      'update projects set optimise_at = ? where id = ? and (optimise_at is null or optimise_at < ?)',
      [runAt, projectId, new Date(now.getTime() - HOUR)]
    )
    if (affectedRows === 1) await enqueue('repository.optimise', { projectId }, { runAt })
  })
}
