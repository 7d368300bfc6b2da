// Labels, milestone and assignee of a merge request. Only developers of the target may set them; they are ignored for others.
import type { Actor } from '../../../access/actor.js'
import { levelIn } from '../../../access/authorize.js'
import { DEVELOPER } from '../../../lib/levels.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { readTitles } from '../labels/label-links.js'
import { milestoneFor } from '../milestones/milestones.js'
import { assignable } from '../participation/assignees.js'

export interface Wishes {
  readonly labels?: string | null
  readonly milestone_id?: number | null
  readonly assignee_id?: number | null
}

/** The changes that the caller may make. An absent attribute stays the same. */
export interface Plan {
  readonly titles?: readonly string[]
  readonly milestoneId?: number | null
  readonly assigneeId?: number | null
}

/** Reads the values of a request, as they apply to the target. Throws Invalid for titles that no label can have. */
export async function planFor(target: ProjectRow, wishes: Wishes, actor: Actor): Promise<Plan> {
  if (levelIn(target, actor) < DEVELOPER) return {}
  const { labels, milestone_id: milestone, assignee_id: assignee } = wishes
  const assigned = assignee === undefined ? undefined : await assigneeOf(target, assignee)
  const milestoneId = await milestoneFor(target.id, milestone)
  return {
    ...(labels !== undefined && { titles: readTitles(labels ?? '') }),
    ...(milestoneId !== undefined && { milestoneId }),
    ...(assigned !== undefined && { assigneeId: assigned })
  }
}

/** Returns null for nobody, and undefined for a user who may not read merge requests there: this user is ignored. */
const assigneeOf = async (target: ProjectRow, id: number | null): Promise<number | null | undefined> =>
  !id ? null : await assignable(target.id, id, 'merge_request.read')
