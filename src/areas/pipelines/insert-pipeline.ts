// Inserts a planned pipeline with its builds.
import type { Plan, PlannedBuild } from '../../ci/plan.js'
import { duplicateKey } from '../../db/failure.js'
import { execute } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import type { Commit } from '../../git/commits.js'
import { holdProject } from '../projects/projects.queries.js'
import { advancePipeline } from './build-changes.js'

export interface NewPipeline {
  readonly projectId: number
  /** Null when no push asked for it. */
  readonly refChangeId: number | null
  readonly ref: string
  readonly tag: boolean
  readonly commit: Commit
  readonly beforeSha: string
  readonly source: 'push' | 'api' | 'trigger' | 'schedule' | 'external'
  readonly userId: number | null
}

/** Inserts a failed pipeline that lists the errors of the CI file. */
export async function insertBroken(pipeline: NewPipeline, errors: readonly string[]): Promise<void> {
  await once(pipeline, () => insertPipeline(pipeline, 'failed', errors.join('\n').slice(0, 60_000)))
}

/**
 * Inserts a pipeline with the builds of its plan, and starts it. Returns its id, or null when the plan has no builds, the
 * project is gone, or the ref change has a pipeline already.
 */
export async function insertPlanned(pipeline: NewPipeline, plan: Plan): Promise<number | null> {
  if (plan.kind === 'empty') return null
  return once(pipeline, async () => {
    const id = await insertPipeline(pipeline, plan.kind === 'skipped' ? 'skipped' : 'created', null)
    if (plan.kind === 'skipped') return id
    await insertBuilds(id, pipeline, plan.builds)
    await advancePipeline(id)
    return id
  })
}

/** The unique key on the ref change prevents a second pipeline when the same job runs again. */
async function once({ projectId }: NewPipeline, insert: () => Promise<number>): Promise<number | null> {
  try {
    return await transact(async () => ((await holdProject(projectId)) ? insert() : null))
  } catch (error) {
    if (duplicateKey(error) !== 'pipelines_ref_change') throw error
    return null
  }
}

/** Inserts the row of a pipeline alone. Gives its id. */
export async function insertPipeline(
  pipeline: NewPipeline,
  status: string,
  yamlErrors: string | null
): Promise<number> {
  const now = new Date()
  const { insertId } = await execute(
    `insert into pipelines (project_id, ref_change_id, ref, tag, sha, before_sha, status, source, yaml_errors, user_id,
       committed_at, finished_at, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      pipeline.projectId,
      pipeline.refChangeId,
      pipeline.ref,
      pipeline.tag,
      pipeline.commit.id,
      pipeline.beforeSha,
      status,
      pipeline.source,
      yamlErrors,
      pipeline.userId,
      pipeline.commit.committedDate,
      status === 'failed' ? now : null,
      now,
      now
    ]
  )
  return insertId
}

/** A prepared statement takes at most 65,535 values. */
const BUILDS_AT_ONCE = 500

async function insertBuilds(pipelineId: number, pipeline: NewPipeline, builds: readonly PlannedBuild[]): Promise<void> {
  for (let at = 0; at < builds.length; at += BUILDS_AT_ONCE) {
    await insertSome(pipelineId, pipeline, builds.slice(at, at + BUILDS_AT_ONCE))
  }
}

async function insertSome(pipelineId: number, pipeline: NewPipeline, builds: readonly PlannedBuild[]): Promise<void> {
  const now = new Date()
  await execute(
    `insert into builds (pipeline_id, project_id, user_id, name, stage, stage_index, ref, tag, sha, status, start_when,
       allow_failure, tag_list, tag_list_hash, plan, created_at, updated_at)
     values ${builds.map(() => "(?, ?, ?, ?, ?, ?, ?, ?, ?, 'created', ?, ?, ?, unhex(md5(?)), ?, ?, ?)").join(', ')}`,
    builds.flatMap(({ name, stage, stageIndex, when, allowFailure, tagList, ...plan }) => [
      pipelineId,
      pipeline.projectId,
      pipeline.userId,
      name,
      stage,
      stageIndex,
      pipeline.ref,
      pipeline.tag,
      pipeline.commit.id,
      when,
      allowFailure,
      JSON.stringify(tagList),
      JSON.stringify(tagList),
      JSON.stringify(plan),
      now,
      now
    ])
  )
}
