// Labels, milestone and assignee of a merge request. Callers need Developer in the target; what others ask for is dropped.
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

/** What a caller may change: an attribute that is absent stays as it is. */
export interface Plan {
  readonly titles?: readonly string[]
  readonly milestoneId?: number | null
  readonly assigneeId?: number | null
}

/** Finds what the wishes mean in the target. Throws Invalid for titles that no label can have. */
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

/** Null for nobody, and undefined for somebody who cannot read merge requests there, who is dropped. */
const assigneeOf = async (target: ProjectRow, id: number | null): Promise<number | null | undefined> =>
  !id ? null : await assignable(target.id, id, 'merge_request.read')
