// Runs the slash commands of a note with the rules of issues and merge requests.
import type { Actor, Origin } from '../../../../access/actor.js'
import { askerOf } from '../../../../access/actor.js'
import { levelIn, may } from '../../../../access/authorize.js'
import { mayOnRecord } from '../../../../access/records.js'
import { DEVELOPER } from '../../../../lib/levels.js'
import { withoutLines } from '../../../../text/slash-commands.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import { estimateIssue, spendTimeOnIssue } from '../../issues/issue-time.js'
import { updateIssue } from '../../issues/issues.js'
import { findIssue } from '../../issues/issues.queries.js'
import { readLabelTitles } from '../../labels/label-links.js'
import { acceptMergeRequest, isAcceptable, isRefusal } from '../../merge-requests/accept/accept.js'
import { findMergeRequest } from '../../merge-requests/merge-requests.queries.js'
import { estimate, spendTime } from '../../merge-requests/participation.js'
import { updateMergeRequest } from '../../merge-requests/update.js'
import { setSubscription } from '../../participation/subscriptions.js'
import { awardByNote } from '../awards.js'
import type { Noteable } from '../noteables.js'
import { deferredCommands } from './deferred.js'
import { findCommands, type Plan, planCommands, type Subject } from './plan.js'

interface Asked {
  readonly project: ProjectRow
  readonly noteable: Noteable
  readonly actor: Actor
  readonly origin: Origin
}

export interface Ran {
  /** The text without its commands. */
  readonly rest: string
  /** Runs the commands that wait until the rest is written. */
  readonly finish: () => Promise<void>
}

/** Runs the commands of a text. Throws what the rules of the changes throw. */
export async function runCommands(text: string, asked: Asked): Promise<Ran> {
  const nothing = { rest: text, finish: async () => undefined }
  const commands = asked.noteable.type === 'Snippet' ? [] : findCommands(text)
  if (commands.length === 0) return nothing
  const subject = await subjectOf(asked)
  if (!subject) return nothing
  const plan = await planCommands(commands, subject, asked.project)
  const refused = await run(plan, subject, asked)
  const taken = plan.taken.filter(({ name }) => !refused.has(name))
  const finish = async () => {
    if (!plan.later) return
    const { run: runDeferred } = await deferredCommands()
    await runDeferred(plan.later, { ...subject, projectId: asked.project.id })
  }
  return { rest: withoutLines(text, taken), finish }
}

/** The command merges like the API with this parameter: it waits for a running build. */
const MERGE = { merge_when_build_succeeds: true }

async function subjectOf({ project, noteable: { type, id }, actor }: Asked): Promise<Subject | undefined> {
  const isIssue = type === 'Issue'
  const found = await (isIssue ? findIssue(id) : findMergeRequest(id))
  if (!found) return undefined
  const target = isIssue ? 'Issue' : 'MergeRequest'
  const record = { author: found.author_id, assignee: found.assignee_id, project }
  return {
    type: target,
    id,
    userId: askerOf(actor).id,
    authorId: found.author_id,
    title: found.title,
    state: found.state,
    labels: await readLabelTitles(target, id),
    spent: found.total_time_spent,
    mayUpdate: mayOnRecord(actor, isIssue ? 'issue.update' : 'merge_request.update', record),
    mayPlan: isIssue ? may(actor, 'issue.plan', project) : levelIn(project, actor) >= DEVELOPER,
    mayMerge: async () => !isIssue && (await isAcceptable(project, id, MERGE, actor))
  }
}

const NONE: ReadonlySet<string> = new Set()
const MERGE_ONLY: ReadonlySet<string> = new Set(['merge'])

/** Returns the names of the commands that did not apply after all, so that they stay in the text. */
async function run(
  plan: Plan,
  { type, id, mayMerge }: Subject,
  { project, noteable, actor, origin }: Asked
): Promise<ReadonlySet<string>> {
  const { change, estimate: estimated, spends = [], subscribe, awards = [] } = plan
  const isIssue = type === 'Issue'
  if (Object.keys(change).length > 0) {
    if (isIssue) await updateIssue(project, id, change, actor)
    else await updateMergeRequest(project, id, change, actor, origin)
  }
  if (estimated !== undefined) await (isIssue ? estimateIssue : estimate)(project, id, estimated, actor)
  for (const spend of spends) await (isIssue ? spendTimeOnIssue : spendTime)(project, id, spend, actor)
  if (subscribe !== undefined) await setSubscription({ type, id, projectId: project.id }, askerOf(actor).id, subscribe)
  for (const award of awards) await awardByNote(noteable, `:${award}:`, actor)
  // The other commands may have closed the merge request or changed its target.
  if (!plan.merge || !(await mayMerge())) return NONE
  try {
    await acceptMergeRequest(project, id, MERGE, actor, origin)
    return NONE
  } catch (error) {
    // Another request may have merged it a moment ago.
    if (!isRefusal(error)) throw error
    return MERGE_ONLY
  }
}
