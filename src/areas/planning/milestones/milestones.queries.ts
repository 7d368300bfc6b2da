import { marks, padded, row, rows } from '../../../db/connect/sql.js'
import { and, equals, isIn } from '../../../db/lists/conditions.js'
import { shortTexts, withLongTexts } from '../../../db/lists/long-texts.js'
import { countTotal, type Page, window } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'
import type { MilestoneListQuery } from './milestones.schema.js'

export interface MilestoneRow {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly title: string
  readonly description: string | null
  readonly state: string
  /** YYYY-MM-DD. */
  readonly start_date: string | null
  readonly due_date: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

const columnsWith = (
  description: string
) => `s.id, s.iid, s.project_id, s.title, ${description} as description, s.state,
  date_format(s.start_date, '%Y-%m-%d') as start_date, date_format(s.due_date, '%Y-%m-%d') as due_date,
  s.created_at, s.updated_at`
const COLUMNS = columnsWith('s.description')
const SELECT = `select ${COLUMNS} from milestones s`
const SHORT = shortTexts('s.description')
const SELECT_LIST = `select ${columnsWith(SHORT.text)}, ${SHORT.bytes} from milestones s`
const DESCRIPTION = { table: 'milestones', column: 'description' } as const

/** Returns a page of the milestones of a project, in the order in which they were created. */
export async function listMilestones(projectId: number, query: MilestoneListQuery): Promise<Page<MilestoneRow>> {
  const { page, perPage, sql } = window(query)
  const { sql: where, values } = and(
    equals('s.project_id', projectId),
    equals('s.state', query.state),
    isIn('s.iid', query.iid)
  )
  const [total, items] = await Promise.all([
    countTotal(`select count(*) as total from milestones s where ${where}`, values),
    rows<MilestoneRow>(`${SELECT_LIST} where ${where} order by s.id ${sql}`, values)
  ])
  return { items: await withLongTexts(items, DESCRIPTION), total, page, perPage }
}

/** A milestone with the columns that only commands show. */
export interface CountedMilestone extends MilestoneRow {
  readonly open_issues: number
  readonly closed_issues: number
}

/** Returns all milestones of a project, or only those in this state, in the order in which they were created. */
export function listAllMilestones(projectId: number, state?: string): Promise<CountedMilestone[]> {
  const { sql, values } = and(equals('s.project_id', projectId), equals('s.state', state))
  return rows<CountedMilestone>(
    `select ${COLUMNS}, (select count(*) from issues i where i.milestone_id = s.id and i.is_open) as open_issues,
       (select count(*) from issues i where i.milestone_id = s.id and not i.is_open) as closed_issues
     from milestones s where ${sql} order by s.id`,
    values
  )
}

/** Finds a milestone of a project by its id; undefined when the project has none with this id. */
export const findMilestone = (projectId: number, id: number): Promise<MilestoneRow | undefined> =>
  row<MilestoneRow>(`${SELECT} where s.project_id = ? and s.id = ?`, [projectId, id])

/** Finds a milestone of a project by its title. */
export const findMilestoneByTitle = (projectId: number, title: string): Promise<MilestoneRow | undefined> =>
  row<MilestoneRow>(`${SELECT} where s.project_id = ? and s.title = ?`, [projectId, title])

/** Finds a milestone by its number in a project. Throws NotFound. */
export async function requireNumberedMilestone(projectId: number, iid: number): Promise<MilestoneRow> {
  const found = await row<MilestoneRow>(`${SELECT} where s.project_id = ? and s.iid = ?`, [projectId, iid])
  if (!found) throw new NotFound()
  return found
}

/** Finds a milestone of a project. Throws NotFound. */
export async function requireMilestone(projectId: number, id: number): Promise<MilestoneRow> {
  const found = await findMilestone(projectId, id)
  if (!found) throw new NotFound()
  return found
}

/** Returns the milestones of a page of issues or merge requests, by their ids. Runs one statement, or no statement without ids. */
export async function readMilestones(ids: readonly (number | null)[]): Promise<ReadonlyMap<number, MilestoneRow>> {
  const list = padded([...new Set(ids.filter(id => id !== null))])
  if (list.length === 0) return new Map()
  const found = await rows<MilestoneRow>(`${SELECT_LIST} where s.id in (${marks(list)})`, list)
  return new Map((await withLongTexts(found, DESCRIPTION)).map(milestone => [milestone.id, milestone]))
}
