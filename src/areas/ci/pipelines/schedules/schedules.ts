// Schedules: pipelines that are created repeatedly, at fixed times.
// Not specified: API v3 has no schedules, so commands manage them.
import { actorOf, type Origin } from '../../../../access/actor.js'
import { may } from '../../../../access/authorize.js'
import { lockRow } from '../../../../db/connect/lock-row.js'
import { execute, row } from '../../../../db/connect/sql.js'
import { transact } from '../../../../db/connect/transact.js'
import { Invalid, NotFound } from '../../../../errors.js'
import { nextDue } from '../../../../lib/cron.js'
import { enqueue } from '../../../../queue/enqueue.js'
import { audit, changesBetween } from '../../../ground/audit/audit.js'
import { findSudoUser } from '../../../people/credentials/credentials.js'
import { findProject, type ProjectRow } from '../../../projects/projects/projects.queries.js'
import { checkVariables, seal } from '../given-variables.js'
import { dueSchedules, requireSchedule, type ScheduleRow } from './schedules.queries.js'

/** The maximum number of schedules of a project. */
const MOST_SCHEDULES = 100
const LONGEST_TEXT = 255
/** The maximum number of schedules that one run starts. The next run, a minute later, starts the rest. */
const MOST_AT_ONCE = 500

export interface ScheduleAttributes {
  readonly ref: string
  readonly cron: string
  readonly description: string
  readonly active: boolean
  /** The username of the owner; null for none. */
  readonly owner: string | null
  /** A map of texts; undefined keeps the variables of the schedule. */
  readonly variables?: object
}

/** Creates a schedule. Throws Invalid, and BadRequest for wrong variables. */
export async function createSchedule(
  project: ProjectRow,
  attributes: ScheduleAttributes,
  origin: Origin
): Promise<ScheduleRow> {
  const values = await valuesOf(project.id, attributes)
  const now = new Date()
  const id = await transact(async () => {
    if (!(await lockRow('projects', project.id))) throw new NotFound('Project')
    const found = await row<{ known: number }>(
      'select count(*) as known from pipeline_schedules where project_id = ?',
      [project.id]
    )
    if ((found?.known ?? 0) >= MOST_SCHEDULES) {
      throw new Invalid('base', `The project already has ${MOST_SCHEDULES} schedules: remove one first`)
    }
    const { insertId } = await execute(
      `insert into pipeline_schedules (project_id, user_id, description, ref, cron, active, variables_encrypted, next_run_at,
         created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [project.id, ...values, seal(checkVariables(attributes.variables)), nextRun(attributes, now), now, now]
    )
    const target = { type: 'schedule', id: insertId, name: `${project.namespace_path}/${project.path}` }
    await audit(origin, { action: 'schedule.create', target, changes: { cron: { after: attributes.cron } } })
    return insertId
  })
  return requireSchedule(id)
}

/** Changes a schedule. Throws Invalid, and BadRequest for wrong variables. */
export async function updateSchedule(
  schedule: ScheduleRow,
  change: Partial<ScheduleAttributes>,
  origin: Origin
): Promise<ScheduleRow> {
  const before = attributesOf(schedule)
  const attributes = { ...before, ...change }
  const values = await valuesOf(schedule.project_id, attributes)
  const box = change.variables === undefined ? schedule.variables_encrypted : seal(checkVariables(change.variables))
  const now = new Date()
  await transact(async () => {
    const { affectedRows } = await execute(
      `update pipeline_schedules set user_id = ?, description = ?, ref = ?, cron = ?, active = ?, variables_encrypted = ?,
         next_run_at = ?, updated_at = ? where id = ?`,
      [...values, box, nextRun(attributes, now), now, schedule.id]
    )
    if (affectedRows === 0) throw new NotFound('Schedule')
    const { variables, ...plain } = attributes
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

/** Removes a schedule. Its pipelines stay. */
export async function deleteSchedule(schedule: ScheduleRow, origin: Origin): Promise<void> {
  await transact(async () => {
    const { affectedRows } = await execute('delete from pipeline_schedules where id = ?', [schedule.id])
    if (affectedRows > 0) await audit(origin, { action: 'schedule.delete', target: targetOf(schedule) })
  })
}

/**
 * Enqueues a job for each due schedule, and sets its next time. If times passed while no worker ran, one run makes up
 * for them. Several workers may call it at once: the one that updates the next time enqueues the job.
 */
export async function startDueSchedules(now: Date): Promise<number> {
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

const attributesOf = (schedule: ScheduleRow): ScheduleAttributes => ({
  ref: schedule.ref,
  cron: schedule.cron,
  description: schedule.description,
  active: schedule.active === 1,
  owner: schedule.username
})

async function valuesOf(projectId: number, { ref, cron, description, active, owner }: ScheduleAttributes) {
  if (ref === '' || ref.length > LONGEST_TEXT) throw new Invalid('ref', 'must be the name of a branch or tag')
  if (description.length > LONGEST_TEXT) throw new Invalid('description', `is too long (maximum is ${LONGEST_TEXT})`)
  if (cron.length > LONGEST_TEXT) throw new Invalid('cron', `is too long (maximum is ${LONGEST_TEXT})`)
  return [await ownerOf(projectId, owner), description, ref, cron, active] as const
}

/** Throws Invalid for a user who may not create pipelines. */
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

/** Throws Invalid when the text is not a schedule, or its time does not come within a year. */
function nextRun({ cron, active }: ScheduleAttributes, now: Date): Date | null {
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
