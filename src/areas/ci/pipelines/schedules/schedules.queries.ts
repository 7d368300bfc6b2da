import { row, rows } from '../../../../db/connect/sql.js'
import { countTotal } from '../../../../db/lists/paginate.js'
import { NotFound } from '../../../../errors.js'

export interface ScheduleRow {
  readonly id: number
  readonly project_id: number
  /** NAMESPACE/PROJECT. */
  readonly project: string
  /** The owner, on whose behalf the pipelines are created; null when a sysadmin created the schedule without an owner. */
  readonly user_id: number | null
  readonly username: string | null
  readonly description: string
  readonly ref: string
  readonly cron: string
  readonly active: number
  readonly variables_encrypted: Buffer | null
  /** Null while the schedule is inactive, and when its time never comes. */
  readonly next_run_at: Date | null
  readonly last_run_at: Date | null
  readonly last_pipeline_id: number | null
  readonly last_error: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

const SELECT = `select s.id, s.project_id, concat(n.path, '/', p.path) as project, s.user_id, u.username, s.description, s.ref,
  s.cron, s.active, s.variables_encrypted, s.next_run_at, s.last_run_at, s.last_pipeline_id, s.last_error, s.created_at,
  s.updated_at
  from pipeline_schedules s join projects p on p.id = s.project_id join namespaces n on n.id = p.namespace_id
    left join users u on u.id = s.user_id`

/** Finds a schedule of any project. Throws NotFound. */
export async function requireSchedule(id: number): Promise<ScheduleRow> {
  const found = await row<ScheduleRow>(`${SELECT} where s.id = ?`, [id])
  if (!found) throw new NotFound('Schedule')
  return found
}

/** Returns the schedules of a project, or of all of them, oldest first, and the total number. */
export async function listSchedules(projectId: number | undefined, limit: number) {
  const [where, values] = projectId === undefined ? ['', []] : ['where s.project_id = ?', [projectId]]
  const [items, total] = await Promise.all([
    rows<ScheduleRow>(`${SELECT} ${where} order by s.id limit ${Math.trunc(limit)}`, values),
    countTotal(`select count(*) as total from pipeline_schedules s ${where}`, values)
  ])
  return { items, total }
}

export interface DueSchedule {
  readonly id: number
  readonly cron: string
  readonly next_run_at: Date
}

/** Returns the schedules that are due, the most overdue first. */
export const dueSchedules = (now: Date, most: number): Promise<DueSchedule[]> =>
  rows<DueSchedule>(
    `select id, cron, next_run_at from pipeline_schedules where next_run_at <= ? order by next_run_at limit ${Math.trunc(most)}`,
    [now]
  )

/** Returns the record that commands print with --json. Values of variables are secrets. */
export const viewSchedule = ({ active, variables_encrypted: box, username, user_id: _, ...row }: ScheduleRow) => ({
  ...row,
  owner: username,
  active: active === 1,
  has_variables: box !== null
})
