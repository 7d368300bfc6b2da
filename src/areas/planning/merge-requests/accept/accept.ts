// Accepts merge requests: merges them now, or when their build succeeds.

import type { Actor, Origin } from '../../../../access/actor.js'
import { askerOf, requireAsker } from '../../../../access/actor.js'
import { execute, row } from '../../../../db/connect/sql.js'
import { transact } from '../../../../db/connect/transact.js'
import { Conflict, NotAcceptable, NotAllowed, Unauthorized } from '../../../../errors.js'
import { mergeBase } from '../../../../git/history/merge-base.js'
import { mergeTree } from '../../../../git/write/merge.js'
import { enqueue } from '../../../../queue/enqueue.js'
import { findProtections } from '../../../code/refs/protected-branches.queries.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import { issuesClosedBy } from '../closing.js'
import { publishMergeRequest } from '../events.js'
import { type MergeRequestRow, requireMergeRequest, reread } from '../merge-requests.queries.js'
import type { AcceptBody } from '../merge-requests.schema.js'
import { isOpen, levelToMerge, mayMergeBy, mayMergeInto } from '../rules.js'
import { isWorkInProgress } from '../titles.js'
import { readBranches } from '../versions/branches.js'
import { noteStatus } from '../versions/mergeability.js'
import { followSource } from '../versions/versions.js'
import { markMerged, mayRemoveBy, settleNow } from './finish.js'
import { linkObjectsBeforeMerge } from './lfs-of-fork.js'
import { CANNOT, mergeBranches, NOT_NOW } from './merge-commit.js'
import { messageOf } from './merge-message.js'

/**
 * Merges a merge request, or lets it wait for its build. Decided: it checks in the order NotFound, Unauthorized, NotAcceptable
 * when it is closed or merged, NotAllowed, and Conflict when the newest commit of the source branch is not `sha`.
 */
export async function acceptMergeRequest(
  project: ProjectRow,
  id: number,
  body: AcceptBody,
  actor: Actor,
  origin: Origin
): Promise<MergeRequestRow> {
  const { found, pipeline } = await requireAcceptable(project, id, body, actor)
  if (pipeline) return await wait(found, body, pipeline.id, origin)
  const userId = requireAsker(origin).id
  const removeSourceBranch = body.should_remove_source_branch === true
  await linkObjectsBeforeMerge(id)
  await mergeBranches(
    project,
    found,
    {
      message: body.merge_commit_message || messageOf(found, await issuesClosedBy(project, found, actor)),
      removeSourceBranch,
      finish: commit => markMerged({ id, commit, userId, removeSourceBranch })
    },
    origin
  )
  await settleNow({ id, userId })
  return reread({ id })
}

/** Whether the actor could accept a merge request now. Throws NotFound. */
export async function isAcceptable(project: ProjectRow, id: number, body: AcceptBody, actor: Actor): Promise<boolean> {
  try {
    await requireAcceptable(project, id, body, actor)
    return true
  } catch (error) {
    if (isRefusal(error)) return false
    throw error
  }
}

/** Whether an error of `acceptMergeRequest` says that the merge request cannot be merged, now or by this user. */
export const isRefusal = (error: unknown): error is Error =>
  [Unauthorized, NotAcceptable, NotAllowed, Conflict].some(kind => error instanceof kind)

interface Acceptable {
  readonly found: MergeRequestRow
  /** The pipeline for which the merge request waits. */
  readonly pipeline: HeadPipeline | undefined
}

/** Throws the error of the first check that refuses the merge. */
async function requireAcceptable(project: ProjectRow, id: number, body: AcceptBody, actor: Actor): Promise<Acceptable> {
  const asked = await requireMergeRequest(project.id, id)
  if (!(await mayMergeInto(project, asked.target_branch, actor))) throw new Unauthorized()
  if (!isOpen(asked)) throw new NotAcceptable(NOT_NOW, `merge request ${asked.iid} is ${asked.state}`)
  // A push that has not been processed yet is part of the merge.
  const found = (await followSource(id)) ?? asked
  if (isWorkInProgress(found.title)) throw new NotAllowed(NOT_NOW, `merge request ${asked.iid} is a work in progress`)
  const pipeline = await headPipeline(found)
  // Decided: waiting for the build is allowed even if the project only allows merges after successful builds.
  const waits = body.merge_when_build_succeeds === true && pipeline !== undefined && ACTIVE.has(pipeline.status)
  if (!waits && pipeline && needsSuccess(project, pipeline)) {
    throw new NotAllowed(NOT_NOW, `the pipeline of merge request ${asked.iid} is ${pipeline.status}`)
  }
  await requireMergeable(found)
  // Not specified: an empty text, which clients send for "any".
  if (body.sha && body.sha !== found.head_sha) throw new Conflict('SHA does not match HEAD of source branch')
  return { found, pipeline: waits ? pipeline : undefined }
}

const needsSuccess = (project: ProjectRow, { status }: HeadPipeline): boolean =>
  project.only_allow_merge_if_build_succeeds === 1 && !PASSED.has(status)

/** Why an open merge request cannot be merged now. `unchecked`: its branches have just moved, so nobody knows yet. */
type Obstacle = 'unfinished' | 'pipeline' | 'conflicts' | 'unchecked'

export interface MergeState {
  readonly pipeline: HeadPipeline | undefined
  /** Whether the caller may merge into the branch. */
  readonly mayMerge: boolean
  /** The lowest level of those who may; null when nobody may, because the project is archived. */
  readonly mergeLevel: number | null
  /** Whether the caller may cancel the wait for the build. */
  readonly mayCancel: boolean
  readonly obstacle: Obstacle | null
  /** Whether a merge can wait for the pipeline. */
  readonly canWait: boolean
  /** Whether the merge may remove the source branch. */
  readonly mayRemove: boolean
}

/** Returns what is known about merging an open merge request, without asking git. `source` is the project of the source branch. */
export async function readMergeState(
  project: ProjectRow,
  found: MergeRequestRow,
  source: ProjectRow | undefined,
  actor: Actor
): Promise<MergeState> {
  const isFork = source !== undefined && source.id !== project.id
  const [protections, ofSource, pipeline] = await Promise.all([
    findProtections(project.id),
    isFork ? findProtections(source.id) : undefined,
    headPipeline(found)
  ])
  const mayMerge = mayMergeBy(protections, project, found.target_branch, actor)
  const status = found.merge_status
  const obstacle = isWorkInProgress(found.title)
    ? 'unfinished'
    : status === 'cannot_be_merged'
      ? 'conflicts'
      : pipeline && needsSuccess(project, pipeline)
        ? 'pipeline'
        : status === 'unchecked'
          ? 'unchecked'
          : null
  return {
    pipeline,
    mayMerge,
    mergeLevel: project.archived ? null : levelToMerge(protections, found.target_branch),
    mayCancel: mayMerge || found.author_id === actor.user?.id,
    obstacle,
    canWait: pipeline !== undefined && ACTIVE.has(pipeline.status),
    mayRemove: source !== undefined && mayRemoveBy(ofSource ?? protections, source, found.source_branch, actor)
  }
}

const ACTIVE: ReadonlySet<string> = new Set(['created', 'pending', 'running'])
const PASSED: ReadonlySet<string> = new Set(['success', 'skipped'])

export interface HeadPipeline {
  readonly id: number
  readonly status: string
}

/** Returns the latest pipeline of the head commit, in the project of the source. */
export const headPipeline = (found: MergeRequestRow): Promise<HeadPipeline | undefined> =>
  row<HeadPipeline>(
    `select id, status from pipelines where project_id = ? and sha = ? and ref = ? and tag = false
       and is_child = false order by id desc limit 1`,
    [found.source_project_id, found.head_sha ?? '', found.source_branch]
  )

/** Throws NotAllowed for conflicts, a missing branch, and when there is nothing to merge. */
async function requireMergeable(found: MergeRequestRow): Promise<void> {
  const { target, start, head } = await readBranches(found)
  const version = found.head_sha
  if (target === null || start === null || head === null || version === null) throw await refusal(found)
  const [base, tree] = await Promise.all([mergeBase(target, start, version), mergeTree(target, start, version)])
  if (base !== version && tree !== null) return
  if (tree === null) await noteStatus(found, 'cannot_be_merged')
  throw await refusal(found)
}

/** Another request may have merged it a moment ago. */
const refusal = async (found: MergeRequestRow) =>
  isOpen(await reread(found)) ? new NotAllowed(CANNOT) : new NotAcceptable(NOT_NOW)

async function wait(
  found: MergeRequestRow,
  body: AcceptBody,
  pipelineId: number,
  origin: Origin
): Promise<MergeRequestRow> {
  const by = requireAsker(origin).id
  await transact(async () => {
    const { affectedRows } = await execute(
      `update merge_requests set merge_when_build_succeeds = true, merge_user_id = ?, merge_message = ?, merge_error = null,
         should_remove_source_branch = ?, updated_at = ? where id = ? and is_open = true and head_sha <=> ?`,
      [
        by,
        body.merge_commit_message || null,
        body.should_remove_source_branch ?? null,
        new Date(),
        found.id,
        found.head_sha
      ],
      found.target_project_id
    )
    if (affectedRows === 0) throw new NotAcceptable(NOT_NOW)
    if (found.merge_when_build_succeeds === 0) await publishWait(found.id, by, true)
    // The pipeline may have succeeded a moment ago, and then no other event would start the merge.
    await enqueue('pipeline.succeeded', { pipelineId })
  })
  return reread(found)
}

/** Cancels the wait for a build. Throws NotFound, Unauthorized, and NotAcceptable when it does not wait. */
export async function cancelWait(project: ProjectRow, id: number, actor: Actor): Promise<MergeRequestRow> {
  const found = await requireMergeRequest(project.id, id)
  const isAuthor = found.author_id === actor.user?.id
  if (!isAuthor && !(await mayMergeInto(project, found.target_branch, actor))) throw new Unauthorized()
  await transact(async () => {
    const { affectedRows } = await execute(
      `update merge_requests set merge_when_build_succeeds = false, merge_user_id = null, merge_message = null,
         should_remove_source_branch = null, updated_at = ?
       where id = ? and merge_when_build_succeeds = true and is_open = true`,
      [new Date(), id],
      found.target_project_id
    )
    // Decided: cancel_merge_when_build_succeeds returns 406 for a merge request that does not wait.
    if (affectedRows === 0) throw new NotAcceptable(NOT_NOW)
    await publishWait(id, askerOf(actor).id, false)
  })
  return reread(found)
}

const publishWait = (id: number, by: number, waits: boolean) =>
  publishMergeRequest({ action: 'update', id, by, changes: { automatic_merge: waits } })
