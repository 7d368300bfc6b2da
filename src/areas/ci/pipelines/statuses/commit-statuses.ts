// Statuses of commits that external services post ("Commits and commit statuses"). They count in the pipeline of the
// commit like a build of a last stage, which no runner takes.
import { type Origin, requireAsker } from '../../../../access/actor.js'
import { isComplete } from '../../../../ci/status.js'
import { lockRow } from '../../../../db/connect/lock-row.js'
import { execute, row } from '../../../../db/connect/sql.js'
import { transact } from '../../../../db/connect/transact.js'
import { BadRequest, Invalid, NotFound } from '../../../../errors.js'
import { type Commit, DamagedRepository, readCommit } from '../../../../git/objects/objects.js'
import { firstBranchWith, isRefName, refValue, ZERO } from '../../../../git/refs/refs.js'
import { isWebUrl } from '../../../../lib/link.js'
import { findCommitOf } from '../../../code/repository/contents.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../../projects/projects/repositories.js'
import { changePipeline } from '../build-changes.js'
import { insertPipeline } from '../insert-pipeline.js'
import { type LockedPipeline, recount } from '../locked-pipeline.js'
import { type CommitStatusRow, findCommitStatus } from './commit-statuses.queries.js'
import type { Posted, StatusBody } from './commit-statuses.schema.js'

/** The maximum number of statuses of one pipeline. */
const MOST_STATUSES = 1000

/** The events of a status, as the requirement names them. */
const EVENTS: { readonly [State in Posted]: string } = {
  pending: 'enqueue',
  running: 'run',
  success: 'success',
  failed: 'drop',
  canceled: 'cancel'
}

/** Posts the state of a commit. Throws NotFound, Invalid, and BadRequest for a state that cannot follow. */
export async function postCommitStatus(
  project: ProjectRow,
  sha: string,
  body: StatusBody,
  origin: Origin
): Promise<CommitStatusRow> {
  const url = body.target_url || null
  if (url !== null && !isWebUrl(url)) throw new Invalid('target_url', 'must be a valid URL')
  const repository = repositoryPath(project)
  const commit = await readCommit(repository, await findCommitOf(project, sha))
  if (!commit) throw new DamagedRepository(repository, `the commit ${sha} is missing`)
  const place = await findPlace(repository, commit, body.ref)
  const id = await transact(async () =>
    changePipeline(await ensurePipeline(project, place, origin), async pipeline => {
      const id = await move(pipeline, project.id, { ...body, ...place, url }, origin)
      // Merge requests that wait for a failed build also react to this.
      if (body.state === 'failed') pipeline.ended.failed.add(id)
      await recount(pipeline)
      return id
    })
  )
  const posted = id === undefined ? undefined : await findCommitStatus(id)
  if (!posted) throw new NotFound('Project')
  return posted
}

interface Place {
  readonly commit: Commit
  readonly ref: string
  readonly tag: boolean
}

/** Not specified: a `ref` that is not a branch or tag. It counts as a branch, which may have been deleted. */
async function findPlace(repository: string, commit: Commit, requested: string | undefined): Promise<Place> {
  const ref = requested || (await firstBranchWith(repository, commit.id))
  if (ref === null) throw new NotFound('References for commit')
  if (!isRefName(`refs/heads/${ref}`)) throw new BadRequest('ref is invalid')
  const [branch, tag] = await Promise.all([
    refValue(repository, `refs/heads/${ref}`),
    refValue(repository, `refs/tags/${ref}`)
  ])
  return { commit, ref, tag: branch === null && tag !== null }
}

/** Returns the newest pipeline of a ref and a commit, or creates one without builds. */
async function ensurePipeline(project: ProjectRow, place: Place, origin: Origin): Promise<number> {
  const found = await newestPipeline(project.id, place)
  if (found !== null) return found
  // Concurrent posts create one pipeline.
  if (!(await lockRow('projects', project.id))) throw new NotFound('Project')
  const made = await newestPipeline(project.id, place)
  if (made !== null) return made
  const { commit, ref, tag } = place
  const userId = requireAsker(origin).id
  const pipeline = { projectId: project.id, refChangeId: null, ref, tag, commit, beforeSha: ZERO, userId }
  return insertPipeline({ ...pipeline, source: 'external' }, 'created', null)
}

async function newestPipeline(projectId: number, { commit, ref }: Place): Promise<number | null> {
  const found = await row<{ id: number | null }>(
    `select max(id) as id from pipelines where project_id = ? and sha = ? and ref = ? and is_child = false`,
    [projectId, commit.id, ref]
  )
  return found?.id ?? null
}

interface Post extends StatusBody, Place {
  readonly ref: string
  readonly url: string | null
}

/** Updates the open status that differs only in its state, or inserts one. Returns its id. The pipeline is locked. */
async function move(pipeline: LockedPipeline, projectId: number, post: Post, origin: Origin): Promise<number> {
  const pipelineId = pipeline.id
  const { state, commit, ref, url } = post
  const userId = requireAsker(origin).id
  const name = post.name || post.context || 'default'
  const description = post.description || null
  const now = new Date()
  const [startedAt, finishedAt] = [state === 'running' ? now : null, isComplete(state) ? now : null]
  const open = await row<{ id: number; status: Posted }>(
    `select id, status from commit_statuses where pipeline_id = ? and name = ? and ref = ? and target_url <=> ?
       and description <=> ? and user_id = ? and status in ('pending', 'running') order by id limit 1`,
    [pipelineId, name, ref, url, description, userId]
  )
  if (open) {
    refuseBackwards(open.status, state)
    await execute(
      `update commit_statuses set status = ?, started_at = coalesce(started_at, ?), finished_at = ?, updated_at = ?
       where id = ?`,
      [state, startedAt, finishedAt, now, open.id]
    )
    return open.id
  }
  const count = await row<{ total: number }>('select count(*) as total from commit_statuses where pipeline_id = ?', [
    pipelineId
  ])
  if ((count?.total ?? 0) >= MOST_STATUSES) {
    throw new BadRequest(`A pipeline has at most ${MOST_STATUSES} statuses: post to another commit`)
  }
  const last = await row<{ status: string }>(
    'select status from commit_statuses where pipeline_id = ? and name = ? order by id desc limit 1',
    [pipelineId, name]
  )
  if (last?.status === 'failed') pipeline.ended.repeated = true
  const { insertId } = await execute(
    `insert into commit_statuses (project_id, pipeline_id, user_id, sha, ref, name, status, target_url, description,
       created_at, started_at, finished_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [projectId, pipelineId, userId, commit.id, ref, name, state, url, description, now, startedAt, finishedAt, now]
  )
  return insertId
}

/** An open status runs once, and never waits again. */
function refuseBackwards(from: Posted, to: Posted): void {
  if (to !== 'pending' && (to !== 'running' || from === 'pending')) return
  const event = EVENTS[to]
  throw new BadRequest(
    `Cannot transition status via :${event} from :${from} (Reason(s): Status cannot transition via "${event}")`
  )
}

/** Ends the open statuses of a canceled pipeline. Returns their number. Call it inside `changePipeline`. */
export async function cancelStatuses(pipelineId: number, now: Date): Promise<number> {
  const { affectedRows } = await execute(
    `update commit_statuses set status = 'canceled', finished_at = ?, updated_at = ?
     where pipeline_id = ? and status in ('pending', 'running')`,
    [now, now, pipelineId]
  )
  return affectedRows
}
