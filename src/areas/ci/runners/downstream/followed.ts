// The pipeline whose status a build adopts (`needs: pipeline` of the CI file): the newest one of a project's default
// branch when the build starts.
import { canSee, may } from '../../../../access/authorize.js'
import { type BuildStatus, isComplete } from '../../../../ci/status.js'
import { lockRow } from '../../../../db/connect/lock-row.js'
import { execute, marks, row, rows } from '../../../../db/connect/sql.js'
import { transact } from '../../../../db/connect/transact.js'
import { Invalid, NotFound } from '../../../../errors.js'
import { findProject, type ProjectRow } from '../../../projects/projects/projects.queries.js'
import { actorFor } from './outer-needs.js'

interface Follower {
  readonly id: number
  readonly pipeline_id: number
  readonly project_id: number
  readonly user_id: number | null
}

export interface Followed {
  readonly id: number
  readonly status: BuildStatus
  /** The project, if the build has just begun to follow it. */
  readonly project: ProjectRow | null
}

/**
 * Returns the pipeline that a build follows, and chooses it on the first call. Throws a Failure when there is no such pipeline,
 * or when pipelines would wait for each other. Fails with a duplicate key when another run of the job has chosen.
 */
export async function followed(build: Follower, path: string): Promise<Followed> {
  const known = await row<{ id: number; status: BuildStatus | null }>(
    `select f.followed_pipeline_id as id, l.status from followed_pipelines f
       left join pipelines l on l.id = f.followed_pipeline_id where f.build_id = ?`,
    [build.id]
  )
  if (known && known.status === null) throw new NotFound('Pipeline')
  const found = known?.status ? { id: known.id, status: known.status, project: null } : await choose(build, path)
  // Checked again later: two pipelines may begin to follow each other at the same time.
  if (!isComplete(found.status) && (await waitsFor(found.id, build.pipeline_id))) {
    throw new Invalid('needs', 'the pipelines would wait for each other')
  }
  return found
}

async function choose(build: Follower, path: string): Promise<Followed> {
  const actor = await actorFor(build)
  const project = await findProject(path, actor)
  const isReadable = project && canSee(project, actor) && may(actor, 'pipeline.read', project)
  // The text does not reveal which of the two applies.
  if (!project || !(isReadable || project.id === build.project_id)) {
    throw new Invalid('needs', 'there is no such project, or the user of the build may not read its pipelines')
  }
  const newest = await row<{ id: number }>(
    `select id from pipelines where project_id = ? and is_child = 0 and tag = 0 and ref = ? order by id desc limit 1`,
    [project.id, project.default_branch ?? '']
  )
  if (!newest) throw new Invalid('needs', 'the default branch of the project has no pipeline')
  return transact(async () => {
    // The pipeline ends either before, which is seen here, or after, which wakes the build.
    await lockRow('pipelines', newest.id)
    const locked = await row<{ id: number; status: BuildStatus }>('select id, status from pipelines where id = ?', [
      newest.id
    ])
    if (!locked) throw new NotFound('Pipeline')
    await execute(
      'insert into followed_pipelines (build_id, pipeline_id, followed_pipeline_id, created_at) values (?, ?, ?, ?)',
      [build.id, build.pipeline_id, newest.id, new Date()]
    )
    return { ...locked, project }
  })
}

/** The maximum number of pipelines to search. */
const MOST = 1000

/** Returns whether the first pipeline waits, directly or through others, for the second one. */
async function waitsFor(first: number, second: number): Promise<boolean> {
  const seen = new Set([first])
  for (let ids = [first]; ids.length > 0 && seen.size < MOST; ) {
    if (ids.includes(second)) return true
    const found = await rows<{ id: number }>(
      `select f.followed_pipeline_id as id from followed_pipelines f join builds b on b.id = f.build_id
       where f.pipeline_id in (${marks(ids)}) and b.status = 'running'
       union select d.pipeline_id as id from downstream_pipelines d join builds b on b.id = d.build_id
       where d.upstream_pipeline_id in (${marks(ids)}) and d.awaited = 1 and b.status = 'running'`,
      [...ids, ...ids]
    )
    ids = found.map(({ id }) => id).filter(id => !seen.has(id))
    for (const id of ids) seen.add(id)
  }
  return false
}
