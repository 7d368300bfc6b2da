// The number of builds in each status, for each stage. A caller that changes them must hold the lock of the pipeline's row.
import type { StageCounts } from '../../../ci/advance.js'
import { noBuilds, type StatusCounts } from '../../../ci/status.js'
import { execute, rows } from '../../../db/connect/sql.js'

/** The stage of statuses that external services post. It comes last, and the other stages never wait for it. */
export const EXTERNAL = { name: 'external', position: 65_535 } as const

const COUNTERS = Object.keys(noBuilds()) as (keyof StatusCounts)[]

/** Returns the stages in the order in which they run. Empty until the builds are counted. */
export async function readStages(pipelineId: number): Promise<StageCounts[]> {
  const found = await rows<StatusCounts & { position: number }>(
    `select position, ${COUNTERS.join(', ')} from pipeline_stages where pipeline_id = ? order by position`,
    [pipelineId]
  )
  return found.map(({ position, ...counts }) => ({ position, counts }))
}

export async function writeStage(pipelineId: number, { position, counts }: StageCounts): Promise<void> {
  await execute(
    `update pipeline_stages set ${COUNTERS.map(name => `${name} = ?`).join(', ')} where pipeline_id = ? and position = ?`,
    [...COUNTERS.map(name => counts[name]), pipelineId, position]
  )
}

/** Counts the builds and statuses of a pipeline again. Of several with the same name, only the latest counts. */
export async function recountStages(pipelineId: number): Promise<void> {
  await execute('delete from pipeline_stages where pipeline_id = ?', [pipelineId])
  await execute(
    `insert into pipeline_stages (pipeline_id, position, name, created, pending, running, success, failed, canceled,
       skipped, ignored)
     select b.pipeline_id, b.stage_index, min(b.stage), sum(b.status = 'created'), sum(b.status = 'pending'),
       sum(b.status = 'running'), sum(b.status = 'success'), sum(b.status = 'failed' and not b.allow_failure),
       sum(b.status = 'canceled' and not b.allow_failure), sum(b.status = 'skipped'),
       sum(b.status in ('failed', 'canceled') and b.allow_failure)
     from (select max(id) as id from builds where pipeline_id = ? group by name) latest join builds b on b.id = latest.id
     group by b.pipeline_id, b.stage_index`,
    [pipelineId]
  )
  await execute(
    `insert into pipeline_stages (pipeline_id, position, name, pending, running, success, failed, canceled)
     select s.pipeline_id, ?, ?, sum(s.status = 'pending'), sum(s.status = 'running'), sum(s.status = 'success'),
       sum(s.status = 'failed'), sum(s.status = 'canceled')
     from (select max(id) as id from commit_statuses where pipeline_id = ? group by name) latest
       join commit_statuses s on s.id = latest.id
     group by s.pipeline_id`,
    [EXTERNAL.position, EXTERNAL.name, pipelineId]
  )
}
