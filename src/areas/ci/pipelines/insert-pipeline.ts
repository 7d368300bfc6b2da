// Inserts a planned pipeline with its builds.
import type { Plan, PlannedBuild } from '../../../ci/plan.js'
import type { PipelineSource } from '../../../ci/refs.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { execute, row, type Value } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import type { Commit } from '../../../git/history/commits.js'
import { enqueue } from '../../../queue/enqueue.js'
import { findProtections } from '../../code/refs/protected-branches.queries.js'
import { wantedEvents } from '../../ground/hooks/ci-subscriptions.js'
import { holdProject } from '../../projects/projects/projects.queries.js'
import { startPipeline } from './build-changes.js'
import { isMailed, publishPipeline } from './events/publish.js'

export interface NewPipeline {
  readonly projectId: number
  /** Null when the pipeline does not come from a push. */
  readonly refChangeId: number | null
  readonly ref: string
  readonly tag: boolean
  readonly commit: Commit
  readonly beforeSha: string
  readonly source: PipelineSource | 'external'
  readonly userId: number | null
}

type PlannedBuilds = Extract<Plan, { kind: 'builds' }>

/** Inserts a failed pipeline that lists the errors of the CI file. Returns its id, or null as `insertPlanned` does. */
export async function insertBroken(pipeline: NewPipeline, errors: readonly string[]): Promise<number | null> {
  return once(pipeline, () => insertEnded(pipeline, 'failed', errors.join('\n').slice(0, 60_000)))
}

/**
 * Inserts a pipeline with the builds of its plan, and starts it. Returns its id, or null when the plan has no builds,
 * the project no longer exists, or the ref change already has a pipeline.
 */
export async function insertPlanned(pipeline: NewPipeline, plan: Plan): Promise<number | null> {
  if (plan.kind === 'empty') return null
  if (plan.kind === 'refused') return insertBroken(pipeline, plan.errors)
  return once(pipeline, async () => {
    if (plan.kind === 'skipped') return insertEnded(pipeline, 'skipped', null)
    const id = await insertPipeline(pipeline, 'created', null, plan)
    const isProtected = !pipeline.tag && (await findProtections(pipeline.projectId)).of(pipeline.ref) !== null
    await insertBuilds(id, { ...pipeline, isProtected }, plan.builds)
    await startPipeline(id)
    // A child pipeline supersedes nothing: the newest older one would be its parent.
    if (!pipeline.tag && pipeline.source !== 'parent_pipeline' && (await hasOlder(id, pipeline)))
      await enqueue('pipeline.supersede', { pipelineId: id })
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

/** Inserts a pipeline that ended before any build. For hooks that is a change of its status. */
async function insertEnded(
  pipeline: NewPipeline,
  status: 'failed' | 'skipped',
  yamlErrors: string | null
): Promise<number> {
  const id = await insertPipeline(pipeline, status, yamlErrors)
  const wanted = await wantedEvents(pipeline.projectId)
  if (wanted.pipeline || isMailed(status)) await publishPipeline(id)
  return id
}

/** Inserts only the row of a pipeline. Returns its id. */
export async function insertPipeline(
  pipeline: NewPipeline,
  status: string,
  yamlErrors: string | null,
  plan: PlannedBuilds | null = null
): Promise<number> {
  // Pipelines of one project take their ids in the order of their commits, on any node of a cluster: numbers.ts counts them.
  await lockRow('projects', pipeline.projectId)
  const now = new Date()
  const { insertId } = await execute(
    `insert into pipelines (project_id, ref_change_id, ref, tag, sha, before_sha, status, source, yaml_errors, user_id,
       committed_at, finished_at, created_at, updated_at, each_build, on_new_commit, stops_on_failure, name, is_child)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
      now,
      plan?.builds.some(startsIndependently) ?? false,
      plan && actionOf(plan),
      plan?.stopsOnFailure ?? false,
      plan?.name ?? null,
      pipeline.source === 'parent_pipeline'
    ]
  )
  return insertId
}

/** Returns whether the start of a build depends on more than its stage. */
const startsIndependently = ({ needs, startIn, resourceGroup }: PlannedBuild) =>
  needs !== null || startIn !== null || resourceGroup !== null

/** Not specified: a pipeline without interruptible builds stays, even before it has started. */
const actionOf = ({ builds, onNewCommit }: PlannedBuilds): string | null =>
  onNewCommit !== 'none' && builds.some(({ interruptible }) => interruptible) ? onNewCommit : null

/** Returns whether the branch has an older pipeline that this one may supersede. */
async function hasOlder(id: number, { projectId, ref }: NewPipeline): Promise<boolean> {
  const older = await row(`select id from pipelines where ${OLDER} limit 1`, [projectId, ref, id])
  return older !== undefined
}

/** The condition of unfinished pipelines of a branch, older than another one, that a newer one supersedes. */
export const OLDER = `project_id = ? and status in ('created', 'pending', 'running') and ref = ? and tag = 0 and id < ?
  and on_new_commit is not null`

/** A prepared statement takes at most 65,535 values. */
const BUILDS_AT_ONCE = 500

interface PlacedPipeline extends NewPipeline {
  /** Whether its branch is protected. Tags cannot be protected. */
  readonly isProtected: boolean
}

async function insertBuilds(
  pipelineId: number,
  pipeline: PlacedPipeline,
  builds: readonly PlannedBuild[]
): Promise<void> {
  for (let at = 0; at < builds.length; at += BUILDS_AT_ONCE) {
    await insertSome(pipelineId, pipeline, builds.slice(at, at + BUILDS_AT_ONCE))
  }
}

async function insertSome(
  pipelineId: number,
  pipeline: PlacedPipeline,
  builds: readonly PlannedBuild[]
): Promise<void> {
  const now = new Date()
  await execute(
    `insert into builds (pipeline_id, project_id, user_id, name, stage, stage_index, ref, tag, sha, status, start_when,
       allow_failure, tag_list, tag_list_hash, needs, start_in, resource_group, timeout, interruptible, plan, created_at,
       updated_at, ref_protected)
     values ${builds.map(() => VALUES).join(', ')}`,
    builds.flatMap(({ name, stage, stageIndex, when, allowFailure, tagList, ...rest }) => [
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
      // Builds with the same hash can run on the same runners.
      `${JSON.stringify(tagList)}${pipeline.isProtected ? ' protected' : ''}`,
      ...columnsOf(rest),
      now,
      now,
      pipeline.isProtected
    ])
  )
}

const VALUES =
  "(?, ?, ?, ?, ?, ?, ?, ?, ?, 'created', ?, ?, ?, unhex(left(sha2(?, 256), 32)), ?, ?, ?, ?, ?, ?, ?, ?, ?)"

type Rest = Omit<PlannedBuild, 'name' | 'stage' | 'stageIndex' | 'when' | 'allowFailure' | 'tagList'>

/** Attributes with their own column are not repeated in the plan. */
function columnsOf({ needs, startIn, resourceGroup, timeout, interruptible, ...plan }: Rest): Value[] {
  return [needs && JSON.stringify(needs), startIn, resourceGroup, timeout, interruptible, JSON.stringify(plan)]
}
