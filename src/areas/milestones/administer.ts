// Milestones as a sysadmin manages them.
import type { Origin } from '../../access/actor.js'
import { rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { NoSuch } from '../../errors.js'
import { audit } from '../audit/audit.js'
import { createMilestone, updateMilestone } from './milestones.js'
import { findMilestoneByTitle, type MilestoneRow } from './milestones.queries.js'
import type { MilestoneBody } from './milestones.schema.js'

export interface DescribedMilestone
  extends Pick<MilestoneRow, 'id' | 'title' | 'state' | 'start_date' | 'due_date' | 'created_at' | 'updated_at'> {
  readonly number: number
  readonly open_issues: number
  readonly closed_issues: number
}

/** A project, with its path. */
export interface NamedPlace {
  readonly id: number
  readonly path: string
}

/** The milestones of a project, with how many issues they have. */
export const listDescribedMilestones = (projectId: number, state: string | undefined): Promise<DescribedMilestone[]> =>
  rows<DescribedMilestone>(
    `select s.id, s.iid as number, s.title, s.state, date_format(s.start_date, '%Y-%m-%d') as start_date,
       date_format(s.due_date, '%Y-%m-%d') as due_date, s.created_at, s.updated_at,
       (select count(*) from issues i where i.milestone_id = s.id and i.is_open) as open_issues,
       (select count(*) from issues i where i.milestone_id = s.id and not i.is_open) as closed_issues
     from milestones s where s.project_id = ? and (? is null or s.state = ?) order by s.id`,
    [projectId, state ?? null, state ?? null]
  )

/** Creates a milestone. Throws Invalid or Taken. */
export async function administerMilestone(
  place: NamedPlace,
  body: MilestoneBody,
  origin: Origin
): Promise<MilestoneRow> {
  const made = await createMilestone(place, body, origin)
  await audit(origin, { action: 'milestone.create', target: targetOf(place, made) })
  return made
}

/** Closes or activates a milestone by its title. Returns false when it is in that state already. Throws NoSuch. */
export async function changeMilestoneState(
  place: NamedPlace,
  title: string,
  event: 'close' | 'activate',
  origin: Origin
): Promise<boolean> {
  const milestone = await findMilestoneByTitle(place.id, title)
  if (!milestone) throw new NoSuch('milestone', title)
  if (milestone.state === (event === 'close' ? 'closed' : 'active')) return false
  await transact(async () => {
    await updateMilestone(place, milestone.id, { state_event: event }, origin)
    await audit(origin, { action: `milestone.${event}`, target: targetOf(place, milestone) })
  })
  return true
}

const targetOf = ({ path }: NamedPlace, { id, title }: MilestoneRow) => ({
  type: 'milestone',
  id,
  name: `${path} ${title}`
})
