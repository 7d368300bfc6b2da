// Creates and deletes merge requests.

import { type Actor, type Origin, requireAsker } from '../../../access/actor.js'
import { authorizeProject } from '../../../access/authorize.js'
import { nextNumber } from '../../../db/connect/counters.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { execute } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { moved } from '../../../db/lists/keyset-cache.js'
import { BadParameters, Forbidden, NotFound } from '../../../errors.js'
import { enqueue } from '../../../queue/enqueue.js'
import { readAhead, textOf } from '../../../text/mentions.js'
import { publishInTransaction } from '../../ground/activity/events.js'
import { audit } from '../../ground/audit/audit.js'
import { findProject, holdProject, type ProjectRow } from '../../projects/projects/projects.queries.js'
import { addLabels, labelsFor } from '../labels/label-links.js'
import { withCommands } from '../participation/descriptions.js'
import { publishMergeRequest } from './events.js'
import { type MergeRequestRow, requireMergeRequest, reread } from './merge-requests.queries.js'
import type { MergeRequestBody } from './merge-requests.schema.js'
import { type Plan, planFor } from './plan.js'
import { AlreadyOpen, type BranchPair, checkPair, checkTexts, refuseSecond, requireBranches } from './rules.js'
import { insertVersion, type NewVersion, prepareVersion } from './versions/versions.js'

/** Creates a merge request from a branch of `source`. Throws NotFound, UnprocessableList, Invalid or Conflicts. */
export async function createMergeRequest(
  source: ProjectRow,
  asked: MergeRequestBody,
  actor: Actor,
  origin: Origin
): Promise<MergeRequestRow> {
  const target = await findTarget(source, asked.target_project_id, actor)
  const body = await withCommands('MergeRequest', target, asked, actor)
  for (const name of ['source_branch', 'target_branch'] as const) {
    if (body[name] === '') throw new BadParameters(`${name} is empty`)
  }
  checkTexts(body)
  const pair = {
    source: { projectId: source.id, branch: body.source_branch },
    target: { projectId: target.id, branch: body.target_branch }
  }
  await checkPair(pair)
  const branches = await requireBranches(pair)
  await refuseSecond(pair)
  const plan = await planFor(target, body, actor)
  const version = await prepareVersion(branches)
  await readAhead(textOf({ title: body.title, description: body.description ?? null }))
  const iid = await nextNumber(target.id, 'merge_request')
  const insert = { pair, body, plan, version, iid, authorId: requireAsker(origin).id }
  try {
    return await reread({ id: await transact(() => insertMergeRequest(target, insert)) })
  } catch (error) {
    throw duplicateKey(error) === 'merge_requests_open' ? new AlreadyOpen({ title: body.title }) : error
  }
}

/** Returns the target project of a merge request from `source`: `source` itself without an id. Throws NotFound or Forbidden. */
export async function findTarget(source: ProjectRow, id: number | undefined, actor: Actor): Promise<ProjectRow> {
  if (id === undefined || id === source.id) return source
  const target = await findProject(id, actor)
  authorizeProject(actor, 'merge_request.read', target)
  if (!target) throw new NotFound('Project')
  if (target.archived) throw new Forbidden()
  return target
}

interface NewMergeRequest {
  readonly pair: BranchPair
  readonly body: MergeRequestBody
  readonly plan: Plan
  readonly version: NewVersion
  readonly iid: number
  readonly authorId: number
}

async function insertMergeRequest(target: ProjectRow, made: NewMergeRequest): Promise<number> {
  const { pair, body, plan, version, iid, authorId } = made
  if (!(await holdProject(target.id))) throw new NotFound('Project')
  const now = new Date()
  const { insertId: id } = await execute(
    `insert into merge_requests (iid, target_project_id, source_project_id, target_branch, source_branch, title, description,
       author_id, assignee_id, milestone_id, head_sha, force_remove_source_branch, created_at, updated_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      iid,
      pair.target.projectId,
      pair.source.projectId,
      pair.target.branch,
      pair.source.branch,
      body.title,
      body.description ?? null,
      authorId,
      plan.assigneeId ?? null,
      plan.milestoneId ?? null,
      version.head,
      body.remove_source_branch ?? null,
      now,
      now
    ],
    target.id
  )
  await insertVersion({ id, target: target.id }, version)
  if (plan.titles) {
    const labels = await labelsFor(target, plan.titles, { create: true })
    await addLabels('MergeRequest', { id, projectId: target.id }, labels)
  }
  await publishMergeRequest({ action: 'open', id, by: authorId })
  await enqueue('merge_requests.check', { ids: [id] })
  if (pair.source.projectId !== target.id) await enqueue('merge_request.link_objects', { id })
  return id
}

/** Hides a merge request everywhere. The row stays. Throws NotFound. */
export async function deleteMergeRequest(project: ProjectRow, id: number, origin: Origin): Promise<MergeRequestRow> {
  const found = await requireMergeRequest(project.id, id)
  await transact(async () => {
    const { affectedRows } = await execute(
      'update merge_requests set deleted_at = ?, lock_version = lock_version + 1 where id = ? and deleted_at is null',
      [new Date(), id],
      project.id
    )
    if (affectedRows === 0) throw new NotFound()
    moved('MergeRequest')
    await publishInTransaction({ kind: 'merge_request.deleted', id })
    const name = `${project.namespace_path}/${project.path}!${found.iid}`
    await audit(origin, { action: 'merge_request.delete', target: { type: 'merge_request', id, name } })
  })
  return found
}
