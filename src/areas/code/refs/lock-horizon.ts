// Which locks in repositories this machine may judge, when other machines share them.

import { othersLive } from '../../../cluster/machines.js'
import { isCluster } from '../../../cluster/storages.js'
import { machine } from '../../../cluster/this-machine.js'
import { config } from '../../../config.js'
import { row } from '../../../db/connect/sql.js'
import { type Horizon, NO_HORIZON } from '../../../git/repository/stale-locks.js'

/** Longer than git takes from its intent to the lock of a ref, and than clocks may differ. */
const LEAST_AGE_MS = 60_000

/**
 * Returns which locks may be judged by the processes of this machine only; the others may belong to machines that live, and
 * whose processes nobody sees here. A change of a ref has its row before its lock, so a lock that is older than all open
 * changes of these machines is not theirs. Each machine judges its own locks. While a command packs repositories, nobody knows
 * since when, so no lock is judged.
 */
export async function lockHorizon(projectId: number): Promise<Horizon> {
  // Only the owner of a storage touches its repositories.
  if (isCluster() || !(await othersLive())) return NO_HORIZON
  const found = await row<{ refs: Date; objects: Date }>(
    `select least(now(3),
         coalesce((select min(c.created_at) from ref_changes c join machines m on m.boot = substring_index(c.process, '#', 1)
           where c.state = 'open' and m.boot <> ? and m.lease_until >= now(3) - interval ? second and c.project_id = ?), now(3)),
         (select if(count(l.task) = 0, now(3), coalesce(min(r.started_at), timestamp('2000-01-01')))
           from maintenance_locks l left join maintenance_runs r on r.task = l.task and r.state = 'running'
           where l.task = 'repository_upkeep' and l.lease_until > now(3))) as refs,
       now(3) - interval ? second as objects`,
    [machine(), config().queue.lease, projectId, config().git.timeout + 60]
  )
  return { refs: (found?.refs.getTime() ?? 0) - LEAST_AGE_MS, objects: found?.objects.getTime() ?? 0 }
}
