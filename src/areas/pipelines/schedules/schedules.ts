// Schedules: pipelines that are made again and again, by the clock.
// Not specified: API v3 has no schedules, so that commands keep them.
import { actorOf, type Origin } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { execute, row } from '../../../db/sql.js'
import { transact } from '../../../db/transact.js'
import { Invalid, NotFound } from '../../../errors.js'
import { nextDue } from '../../../lib/cron.js'
import { enqueue } from '../../../queue/enqueue.js'
import { audit, changesBetween } from '../../audit/audit.js'
import { findSudoUser } from '../../credentials/credentials.js'
import { findProject, holdProject, type ProjectRow } from '../../projects/projects.queries.js'
import { checkVariables, seal } from '../given-variables.js'
import { dueSchedules, requireSchedule, type ScheduleRow } from './schedules.queries.js'

/** How many schedules a project may have. */
const MOST_SCHEDULES = 100
const LONGEST_TEXT = 255
/** How many schedules one look starts. The next look, a minute later, starts the rest. */
const MOST_AT_ONCE = 500

export interface ScheduleWish {
  readonly ref: string
  readonly cron: string
  readonly description: string
  readonly active: boolean
  /** The username of the owner; null for none. */
  readonly owner: string | null
  /** A map of texts; undefined leaves those of the schedule as they are. */
  readonly variables?: object
}

/** Makes a schedule. Throws Invalid, and BadRequest for wrong variables. */
export async function createSchedule(project: ProjectRow, wish: ScheduleWish, origin: Origin): Promise<ScheduleRow> {
  const values = await valuesOf(project.id, wish)
  const now = new Date()
  const id = await transact(async () => {
    if (!(await holdProject(project.id))) throw new NotFound('Project')
    const found = await row<{ known: number }>(
      'select count(*) as known from pipeline_schedules where project_id = ?',
      [project.id]
    )
    if ((found?.known ?? 0) >= MOST_SCHEDULES) {
      throw new Invalid('base', `The project has ${MOST_SCHEDULES} schedules already: remove one first`)
    }
    const { insertId } = await execute(
      `insert into pipeline_schedules (project_id, user_id, description, ref, cron, active, variables_encrypted, next_run_at,
         created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [project.id, ...values, seal(checkVariables(wish.variables)), nextRun(wish, now), now, now]
    )
    const target = { type: 'schedule', id: insertId, name: `${project.namespace_path}/${project.path}` }
    await audit(origin, { action: 'schedule.create', target, changes: { cron: { after: wish.cron } } })
    return insertId
  })
  return requireSchedule(id)
}

/** Changes a schedule. Throws Invalid, and BadRequest for wrong variables. */
export async function updateSchedule(
  schedule: ScheduleRow,
  change: Partial<ScheduleWish>,
  origin: Origin
): Promise<ScheduleRow> {
  const before = wishOf(schedule)
  const wish = { ...before, ...change }
  const values = await valuesOf(schedule.project_id, wish)
  const box = change.variables === undefined ? schedule.variables_encrypted : seal(checkVariables(change.variables))
  const now = new Date()
  await transact(async () => {
    const { affectedRows } = await execute(
      `update pipeline_schedules set user_id = ?, description = ?, ref = ?, cron = ?, active = ?, variables_encrypted = ?,
         next_run_at = ?, updated_at = ? where id = ?`,
      [...values, box, nextRun(wish, now), now, schedule.id]
    )
    if (affectedRows === 0) throw new NotFound('Schedule')
    const { variables, ...plain } = wish
    const changes = {
      ...changesBetween(before, plain),
      ...(variables && { variables: { after: Object.keys(variables).sort().join(' ') } })
    }
    if (Object.keys(changes).length > 0) {
      await audit(origin, { action: 'schedule.update', target: targetOf(schedule), changes })
    }
  })
  return requireSchedule(schedule.id)
}

/** Removes a schedule. Pipelines that it has made stay. */
export async function deleteSchedule(schedule: ScheduleRow, origin: Origin): Promise<void> {
  await transact(async () => {
    const { affectedRows } = await execute('delete from pipeline_schedules where id = ?', [schedule.id])
    if (affectedRows > 0) await audit(origin, { action: 'schedule.delete', target: targetOf(schedule) })
  })
}

/**
 * Gives a job to each schedule whose time has come, and sets its next time. Times that passed while no worker ran are made up
 * for by one run. Several workers may call it at once: the one that moves the next time on gives the job.
 */
export async function startDueSchedules(now = new Date()): Promise<number> {
  let started = 0
  for (const { id, cron, next_run_at: due } of await dueSchedules(now, MOST_AT_ONCE)) {
    const begun = await transact(async () => {
      const { affectedRows } = await execute(
        'update pipeline_schedules set next_run_at = ? where id = ? and next_run_at = ?',
        [nextOrNever(cron, now), id, due]
      )
      if (affectedRows === 0) return false
      await enqueue('schedule.run', { scheduleId: id, dueAt: due.toISOString() })
      return true
    })
    if (begun) started++
  }
  return started
}

const wishOf = (schedule: ScheduleRow): ScheduleWish => ({
  ref: schedule.ref,
  cron: schedule.cron,
  description: schedule.description,
  active: schedule.active === 1,
  owner: schedule.username
})

async function valuesOf(projectId: number, { ref, cron, description, active, owner }: ScheduleWish) {
  if (ref === '' || ref.length > LONGEST_TEXT) throw new Invalid('ref', 'must be the name of a branch or tag')
  if (description.length > LONGEST_TEXT) throw new Invalid('description', `is too long (maximum is ${LONGEST_TEXT})`)
  if (cron.length > LONGEST_TEXT) throw new Invalid('cron', `is too long (maximum is ${LONGEST_TEXT})`)
  return [await ownerOf(projectId, owner), description, ref, cron, active] as const
}

/** Throws Invalid for somebody who may not create pipelines. */
async function ownerOf(projectId: number, name: string | null): Promise<number | null> {
  if (name === null) return null
  const user = await findSudoUser(name)
  const actor = user && actorOf(user, 'private')
  const project = actor && (await findProject(projectId, actor))
  if (!project || !may(actor, 'pipeline.write', project)) {
    throw new Invalid('owner', 'must be an active user who may create pipelines of the project')
  }
  return user.id
}

/** Throws Invalid when the text is no schedule, or its time does not come within a year. */
function nextRun({ cron, active }: ScheduleWish, now: Date): Date | null {
  try {
    const next = nextDue(cron, now)
    return active ? next : null
  } catch (error) {
    throw error instanceof RangeError ? new Invalid('cron', `is wrong: ${error.message}`) : error
  }
}

function nextOrNever(cron: string, now: Date): Date | null {
  try {
    return nextDue(cron, now)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

const targetOf = ({ id, project }: ScheduleRow) => ({ type: 'schedule', id, name: project })
