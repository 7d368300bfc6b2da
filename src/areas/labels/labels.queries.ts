// A project has its own labels and those of its group.
import { marks, padded, row, rows } from '../../db/sql.js'

export interface LabelRow {
  readonly id: number
  /** Null for a label of the group. */
  readonly project_id: number | null
  readonly title: string
  readonly color: string
  readonly description: string | null
  readonly priority: number | null
}

/** The project whose labels are meant, and its namespace. */
export interface LabelPlace {
  readonly id: number
  readonly namespace_id: number
}

const SELECT = `select l.id, l.project_id, l.title, l.color, l.description, y.priority from labels l
  left join label_priorities y on y.label_id = l.id and y.project_id = ?`
const OF_PROJECT = '(l.project_id = ? or l.group_id = ?)'

/** The labels that a project can use, by title. */
export const listLabels = ({ id, namespace_id: group }: LabelPlace): Promise<LabelRow[]> =>
  rows<LabelRow>(`${SELECT} where ${OF_PROJECT} order by l.title, l.id`, [id, id, group])

/** A label that a project can use, by its id. */
export const findLabelById = ({ id, namespace_id: group }: LabelPlace, labelId: number) =>
  row<LabelRow>(`${SELECT} where ${OF_PROJECT} and l.id = ?`, [id, id, group, labelId])

/** Labels that a project can use, by their titles. Where both have one, that of the project comes first. */
export async function findLabels(
  { id, namespace_id: group }: LabelPlace,
  titles: readonly string[]
): Promise<ReadonlyMap<string, LabelRow>> {
  if (titles.length === 0) return new Map()
  const list = padded(titles)
  const found = await rows<LabelRow>(
    `${SELECT} where ${OF_PROJECT} and l.title in (${marks(list)}) order by l.project_id is null desc`,
    [id, id, group, ...list]
  )
  return new Map(found.map(label => [label.title, label]))
}

/** Locks a label of the project itself, and returns it as it is then. Call it first inside `transact`. */
export async function lockOwnLabel({ id }: Pick<LabelPlace, 'id'>, labelId: number): Promise<LabelRow | undefined> {
  await row('select id from labels where id = ? for update', [labelId])
  return row<LabelRow>(`${SELECT} where l.project_id = ? and l.id = ?`, [id, id, labelId])
}

/** A label of the project itself, by its title. */
export const findOwnLabel = ({ id }: Pick<LabelPlace, 'id'>, title: string) =>
  row<LabelRow>(`${SELECT} where l.project_id = ? and l.title = ?`, [id, id, title])
