// Finds the builds that a runner may take, in the order in which to try them. These queries lock nothing, so
// `takeBuild` checks a build again.
import { config } from '../../../config.js'
import { row, rows } from '../../../db/connect/sql.js'
import { ofThisMachine } from '../../projects/projects/repositories.js'
import type { FoundBuild } from '../builds/claim.js'
import type { RunnerRow } from './runners.queries.js'

/**
 * Selects the oldest pending build of each project and list of tags, separately for builds of protected branches (part
 * of the hash). MariaDB takes one step in the index for each of them, so ten thousand builds of a project cost as much
 * as one. It does so only when the query also groups by status. The tags are part of the group because older builds of
 * a project may have tags that the runner lacks.
 */
const OLDEST = `runners me
  join (select status, project_id, tag_list_hash, min(id) as id from builds where status = 'pending'
    group by status, project_id, tag_list_hash) oldest
  join builds b on b.id = oldest.id join projects p on p.id = oldest.project_id`

const BUSY = `left join (select r.project_id, count(*) as builds from builds r join runners s on s.id = r.runner_id
  where r.status = 'running' and s.is_shared group by r.project_id) busy on busy.project_id = p.id`

const ASSIGNED = 'exists (select 1 from runner_projects a where a.runner_id = me.id and a.project_id = p.id)'

/** The SQL condition under which the runner `me` may take a build `b` of the project `p`. */
const servedBy = (runner: RunnerRow) => `me.id = ? and me.active and p.builds_enabled and not p.archived
  and json_contains(me.tag_list, b.tag_list) and (me.run_untagged or b.tag_list <> '[]') and (not me.ref_protected or b.ref_protected)
  and ${runner.is_shared ? `p.shared_runners_enabled and (not me.locked or ${ASSIGNED})` : ASSIGNED}`

/**
 * Returns pending builds that a runner may take, at most one for each project and list of tags. For a shared runner,
 * the project with the fewest builds running on shared runners comes first, and then the oldest build. For other
 * runners, the oldest build comes first.
 */
export function findWaitingBuilds(runner: RunnerRow, limit: number): Promise<FoundBuild[]> {
  const [busy, order] = runner.is_shared ? [BUSY, 'coalesce(busy.builds, 0), b.id'] : ['', 'b.id']
  const most = config().runner.project_limit
  // Concurrent claims may all find the same room: the claim itself checks again.
  const room = runner.is_shared && most > 0 ? `and coalesce(busy.builds, 0) < ${Math.trunc(most)}` : ''
  const ours = ofThisMachine('p.storage')
  return rows<FoundBuild>(
    `select b.id as buildId, b.pipeline_id as pipelineId from ${OLDEST} ${busy} where ${servedBy(runner)} ${room} and ${ours.sql}
     order by ${order} limit ${Math.trunc(limit)}`,
    [runner.id, ...ours.values]
  )
}

/** Returns the storage of a pending build that a runner may take at another machine only; undefined when there is none. */
export async function storageElsewhere(runner: RunnerRow): Promise<string | undefined> {
  const ours = ofThisMachine('p.storage')
  if (ours.values.length === 0) return undefined
  const found = await row<{ storage: string }>(
    `select p.storage from ${OLDEST} where ${servedBy(runner)} and not (${ours.sql}) order by b.id limit 1`,
    [runner.id, ...ours.values]
  )
  return found?.storage
}

/** Returns running builds of the built-in runner whose worker died or has not renewed the lease in time. */
export function findAbandonedBuilds(runner: RunnerRow, limit: number): Promise<FoundBuild[]> {
  const ours = ofThisMachine('p.storage')
  return rows<FoundBuild>(
    `select b.id as buildId, b.pipeline_id as pipelineId from builds b join projects p on p.id = b.project_id
     where b.status = 'running' and b.runner_id = ? and ${ours.sql}
       and (b.lease_until < now(3) or not exists (select 1 from job_processes w where w.id = b.process_id))
     order by b.id limit ${Math.trunc(limit)}`,
    [runner.id, ...ours.values]
  )
}

/**
 * Returns at most `most` builds that the built-in runner could have taken before a time but has not. A build that became pending after
 * `soon` did so on a machine whose clock is ahead: nobody knows for how long it has waited, and it counts as well.
 */
export async function findOverdueBuilds(
  runner: RunnerRow,
  { before, soon }: { readonly before: Date; readonly soon: Date },
  most: number
): Promise<number[]> {
  const limit = `limit ${Math.trunc(most)}`
  const found = await rows<{ id: number }>(
    `select overdue.id from (
       (select b.id from builds b where b.status = 'running' and b.runner_id = ? and b.lease_until < ? ${limit})
       union all
       (select w.id from ${OLDEST}
        join builds w force index (builds_queue) on w.status = 'pending' and w.project_id = oldest.project_id
          and w.tag_list_hash = oldest.tag_list_hash
        where ${servedBy(runner)} and not w.queued_at between ? and ? ${limit})
       ${limit}) overdue`,
    [runner.id, before, runner.id, before, soon]
  )
  return found.map(({ id }) => id)
}
