// Milestones of projects.
import type { Origin } from '../../../access/actor.js'
import { nextNumber } from '../../../db/connect/counters.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Invalid, NotFound, Stale, Taken } from '../../../errors.js'
import { isLonger } from '../../../lib/text-line.js'
import { versionOf } from '../../../text/versions.js'
import { publish } from '../../ground/activity/events.js'
import { holdProject } from '../../projects/projects/projects.queries.js'
import { readDay } from '../participation/dates.js'
import { LONGEST_DESCRIPTION } from '../participation/targets.js'
import { findMilestone, type MilestoneRow, requireMilestone } from './milestones.queries.js'
import type { MilestoneBody, MilestoneChange } from './milestones.schema.js'

const LONGEST = 255

type Values = Pick<MilestoneRow, 'title' | 'description' | 'start_date' | 'due_date'>

/** Creates a milestone. Throws Invalid, Taken or BadParameters. */
export async function createMilestone(
  project: { readonly id: number },
  body: MilestoneBody,
  origin: Origin
): Promise<MilestoneRow> {
  const values = readValues(body, { title: '', description: null, start_date: null, due_date: null })
  await requireFree(project.id, values.title)
  const iid = await nextNumber(project.id, 'milestone')
  const by = origin.asker?.id ?? null
  const now = new Date()
  const id = await unlessTaken(() =>
    transact(async () => {
      if (!(await holdProject(project.id))) throw new NotFound('Project')
      const { insertId } = await execute(
        `insert into milestones (project_id, iid, title, description, start_date, due_date, created_at, updated_at)
         values (?, ?, ?, ?, ?, ?, ?, ?)`,
        [project.id, iid, values.title, values.description, values.start_date, values.due_date, now, now],
        project.id
      )
      await publishMilestone('opened', { id: insertId, project_id: project.id, title: values.title }, by)
      return insertId
    })
  )
  return requireMilestone(project.id, id)
}

/** Returns the version of what people edit of a milestone. */
export const versionOfMilestone = (milestone: Values): string =>
  versionOf(milestone.title, milestone.description, milestone.start_date, milestone.due_date)

/**
 * Changes a milestone, and closes or activates it; ignores an event that does not fit its state. Throws NotFound,
 * Invalid, Taken, BadParameters, and Stale when the milestone has another version than `version`.
 */
export async function updateMilestone(
  project: { readonly id: number },
  id: number,
  { state_event: event, ...change }: MilestoneChange,
  origin: Origin,
  version?: string
): Promise<MilestoneRow> {
  const by = origin.asker?.id ?? null
  await unlessTaken(() =>
    transact(async () => {
      // Locks the row first, so that only one of two concurrent requests closes it.
      if (!(await row('select id from milestones where project_id = ? and id = ? for update', [project.id, id])))
        throw new NotFound()
      const old = await requireMilestone(project.id, id)
      if (version !== undefined && version !== versionOfMilestone(old)) throw new Stale()
      const values = readValues(change, old)
      const state = event === undefined ? old.state : event === 'close' ? 'closed' : 'active'
      await execute(
        `update milestones set title = ?, description = ?, start_date = ?, due_date = ?, state = ?, updated_at = ?
         where id = ?`,
        [values.title, values.description, values.start_date, values.due_date, state, new Date(), id],
        project.id
      )
      if (state === old.state) return
      await publishMilestone(state === 'closed' ? 'closed' : 'opened', { ...old, title: values.title }, by)
    })
  )
  return requireMilestone(project.id, id)
}

const publishMilestone = (
  action: 'opened' | 'closed',
  { id, project_id, title }: Pick<MilestoneRow, 'id' | 'project_id' | 'title'>,
  by: number | null
) => publish({ kind: 'milestone.changed', action, milestone: { id, project_id, title }, by })

/**
 * Returns the milestone of an issue or merge request by its id. Decided: 0 clears it, and so does the id of a milestone
 * of another project. Undefined when the request contains no id.
 */
export async function milestoneFor(
  projectId: number,
  id: number | null | undefined
): Promise<number | null | undefined> {
  if (!id) return id === undefined ? undefined : null
  return (await findMilestone(projectId, id))?.id ?? null
}

/** Checks the title before a number is taken for a milestone that cannot be saved. For two concurrent requests, the unique key decides. */
async function requireFree(projectId: number, title: string): Promise<void> {
  if (await row('select id from milestones where project_id = ? and title = ?', [projectId, title])) {
    throw new Taken('title')
  }
}

async function unlessTaken<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw duplicateKey(error) === 'milestones_title' ? new Taken('title') : error
  }
}

/** Throws Invalid with all problems of the values. */
function readValues(change: Omit<MilestoneChange, 'state_event'>, old: Values): Values {
  const values = {
    title: change.title === undefined ? old.title : change.title.trim(),
    description: change.description === undefined ? old.description : change.description || null,
    start_date: readDay('start_date', change.start_date) ?? (change.start_date === undefined ? old.start_date : null),
    due_date: readDay('due_date', change.due_date) ?? (change.due_date === undefined ? old.due_date : null)
  }
  const errors: Record<string, string[]> = {}
  if (values.title === '') errors.title = ["can't be blank"]
  if (isLonger(values.title, LONGEST)) errors.title = [tooLong(LONGEST)]
  if ((values.description?.length ?? 0) > LONGEST_DESCRIPTION) errors.description = [tooLong(LONGEST_DESCRIPTION)]
  if (values.start_date !== null && values.due_date !== null && values.due_date <= values.start_date) {
    errors.start_date = ["Can't be greater than due date"]
  }
  if (Object.keys(errors).length > 0) throw new Invalid(errors)
  return values
}

const tooLong = (most: number) => `is too long (maximum is ${most} characters)`
