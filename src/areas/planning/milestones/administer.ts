// Milestones, as a sysadmin manages them.
import type { Origin } from '../../../access/actor.js'
import { transact } from '../../../db/connect/transact.js'
import { NoSuch } from '../../../errors.js'
import { audit } from '../../ground/audit/audit.js'
import { createMilestone, updateMilestone } from './milestones.js'
import { findMilestoneByTitle, type MilestoneRow } from './milestones.queries.js'
import type { MilestoneBody } from './milestones.schema.js'

/** A project, with its path. */
export interface NamedPlace {
  readonly id: number
  readonly path: string
}

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

/** Closes or activates a milestone by its title. Returns false when it is already in that state. Throws NoSuch. */
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
