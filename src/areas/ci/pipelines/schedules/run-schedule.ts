// Creates the pipeline of a schedule for one of its times.
import { actorOf, nobody, type Origin } from '../../../../access/actor.js'
import { may } from '../../../../access/authorize.js'
import { duplicateKey } from '../../../../db/connect/failure.js'
import { execute } from '../../../../db/connect/sql.js'
import { transact } from '../../../../db/connect/transact.js'
import { Failure, Forbidden, Invalid, NotFound } from '../../../../errors.js'
import { audit } from '../../../ground/audit/audit.js'
import { findSudoUser } from '../../../people/credentials/credentials.js'
import { findProject, type ProjectRow } from '../../../projects/projects/projects.queries.js'
import { insertRequest, unseal } from '../given-variables.js'
import { insertBroken, insertPlanned } from '../insert-pipeline.js'
import { orInOtherJob } from '../planning/in-other-job.js'
import { planRequest } from '../requested-pipelines.js'
import { requireSchedule, type ScheduleRow } from './schedules.queries.js'

/** Creates the pipeline for a time, once, and stores the result in the schedule. Does nothing for a deleted schedule. */
export async function runDueSchedule(
  { scheduleId, dueAt }: { readonly scheduleId: number; readonly dueAt: string },
  { urlsLater = true } = {}
) {
  const schedule = await requireSchedule(scheduleId).catch(unlessGone)
  if (!schedule) return
  const plan = () => runAndNote(schedule, new Date(dueAt), urlsLater)
  await orInOtherJob(plan, schedule.project_id, { scheduleId, dueAt }).catch(error => {
    // The schedule shows the reason. Another attempt of the job would have the same result.
    if (!(error instanceof Failure)) throw error
  })
}

/** Creates a pipeline of a schedule now. Returns its id. Throws Forbidden or Invalid. */
export async function runScheduleNow(schedule: ScheduleRow, origin: Origin): Promise<number> {
  const now = new Date()
  const id = await runAndNote(schedule, now)
  const target = { type: 'schedule', id: schedule.id, name: schedule.project }
  await audit(origin, { action: 'schedule.run', target, changes: { pipeline: { after: id } } })
  return id
}

async function runAndNote(schedule: ScheduleRow, dueAt: Date, urlsLater = false): Promise<number> {
  try {
    return await run(schedule, dueAt, urlsLater)
  } catch (error) {
    if (error instanceof Failure) await note(schedule, { pipelineId: null, error: error.message })
    throw error
  }
}

async function run(schedule: ScheduleRow, dueAt: Date, urlsLater: boolean): Promise<number> {
  const project = await projectOf(schedule)
  const variables = unseal(schedule.variables_encrypted)
  const options = { source: 'schedule', userId: schedule.user_id, variables, urlsLater } as const
  const { pipeline, plan, errors } = await planRequest(project, schedule.ref, options)
  if (!plan) {
    // As with triggers, a broken CI file leaves a failed pipeline, which people see.
    await insertBroken(pipeline, errors)
    throw new Invalid('base', errors.join('\n'))
  }
  const id = await transact(async () => {
    const made = await insertPlanned(pipeline, plan)
    if (made === null) throw new NotFound('Project')
    const request = { schedule: { id: schedule.id, dueAt }, variablesBox: schedule.variables_encrypted }
    await insertRequest(made, request)
    await note(schedule, { pipelineId: made, error: null })
    return made
  }).catch(error => {
    if (duplicateKey(error) !== 'pipeline_requests_schedule') throw error
    // The job has already completed before.
    return schedule.last_pipeline_id ?? 0
  })
  return id
}

/** Throws Forbidden when the project accepts no builds, or when the owner may no longer create pipelines. */
async function projectOf({ project_id: id, user_id: userId }: ScheduleRow): Promise<ProjectRow> {
  const user = userId === null ? null : await findSudoUser(String(userId))
  const actor = user ? actorOf(user, 'private') : nobody
  const project = await findProject(id, actor)
  if (!project) throw new NotFound('Project')
  if (!project.builds_enabled || project.archived) throw new Forbidden('The project accepts no builds')
  if (userId !== null && !may(actor, 'pipeline.write', project)) {
    throw new Forbidden('The owner of the schedule may no longer create pipelines')
  }
  return project
}

async function note(
  { id }: ScheduleRow,
  { pipelineId, error }: { readonly pipelineId: number | null; readonly error: string | null }
): Promise<void> {
  await execute('update pipeline_schedules set last_run_at = ?, last_pipeline_id = ?, last_error = ? where id = ?', [
    new Date(),
    pipelineId,
    error?.slice(0, 255) ?? null,
    id
  ])
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error
}
