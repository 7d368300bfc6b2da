// Merges the merge requests that wait for a build when its pipeline has succeeded.
import { actorOf, originOf } from '../../../../access/actor.js'
import { execute, row, rows } from '../../../../db/connect/sql.js'
import { NotFound } from '../../../../errors.js'
import { findSudoUser } from '../../../people/credentials/credentials.js'
import { findProject } from '../../../projects/projects/projects.queries.js'
import { findMergeRequest } from '../merge-requests.queries.js'
import { acceptMergeRequest, headPipeline, isRefusal } from './accept.js'

interface Succeeded {
  readonly id: number
  readonly project_id: number
  readonly ref: string
  readonly sha: string
}

/** Merges the merge requests that waited for this pipeline, each in the name of the user who accepted it. */
export async function mergeWaiting(pipelineId: number): Promise<void> {
  const pipeline = await row<Succeeded>(
    "select id, project_id, ref, sha from pipelines where id = ? and tag = false and status = 'success'",
    [pipelineId]
  )
  if (!pipeline) return
  const waiting = await rows<{ id: number }>(
    `select id from merge_requests where source_project_id = ? and source_branch = ? and phase = 'opened' and head_sha = ?
       and merge_when_build_succeeds = true order by id limit 1000`,
    [pipeline.project_id, pipeline.ref, pipeline.sha]
  )
  for (const { id } of waiting) await mergeOne(id, pipelineId)
}

async function mergeOne(id: number, pipelineId: number): Promise<void> {
  const found = await findMergeRequest(id)
  // Only the newest pipeline of a commit counts.
  if (found?.merge_when_build_succeeds !== 1 || (await headPipeline(found))?.id !== pipelineId) return
  const user = found.merge_user_id === null ? undefined : await findSudoUser(String(found.merge_user_id))
  const actor = user && actorOf(user, 'private')
  const project = actor && (await findProject(found.target_project_id, actor))
  if (!actor || !project) return
  const body = {
    ...(found.merge_message !== null && { merge_commit_message: found.merge_message }),
    should_remove_source_branch: found.should_remove_source_branch === 1,
    ...(found.head_sha !== null && { sha: found.head_sha })
  }
  try {
    await acceptMergeRequest(project, id, body, actor, originOf(actor, null))
  } catch (error) {
    if (!isRefusal(error) && !(error instanceof NotFound)) throw error
    // The merge request waits for the next pipeline.
    const why = error.message.slice(0, 255)
    await execute('update merge_requests set merge_error = ? where id = ?', [why, id], project.id)
  }
}
