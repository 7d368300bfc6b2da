// What the forms of issues and merge requests offer: labels, milestones and assignees of their project.
import { type LabelRow, offeredLabels } from '../../../areas/planning/labels/labels.queries.js'
import { listMilestones, type MilestoneRow } from '../../../areas/planning/milestones/milestones.queries.js'
import { type OfferedMember, offeredMembers } from '../../../areas/planning/participation/assignees.js'
import type { ProjectRow } from '../../../areas/projects/projects/projects.queries.js'
import type { Level } from '../../../lib/levels.js'

export interface Choices {
  readonly labels: readonly LabelRow[]
  /** The active ones. */
  readonly milestones: readonly MilestoneRow[]
  readonly members: readonly OfferedMember[]
}

/** Reads what forms offer in a project. `least` is the lowest level of an assignee. */
export async function readChoices(project: ProjectRow, least: Level): Promise<Choices> {
  const [labels, milestones, members] = await Promise.all([
    offeredLabels(project),
    listMilestones(project.id, { state: 'active', per_page: 100 }),
    offeredMembers(project.id, least)
  ])
  return { labels, milestones: milestones.items, members }
}
