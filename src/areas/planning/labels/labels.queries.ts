// A project can use its own labels and those of its group.
import { marks, padded, row, rows } from '../../../db/connect/sql.js'
import { NoSuch } from '../../../errors.js'
import type { TargetType } from '../participation/targets.js'

export interface LabelRow {
  readonly id: number
  /** Null for a label of the group. */
  readonly project_id: number | null
  readonly title: string
  readonly color: string
  readonly description: string | null
  readonly priority: number | null
}

/** The project whose labels are read, and its namespace. */
export interface LabelPlace {
  readonly id: number
  readonly namespace_id: number
}

export const LABEL_COLUMNS = 'l.id, l.project_id, l.title, l.color, l.description, y.priority'
/** Labels `l` with their priority in a project. */
export const LABELS = 'from labels l left join label_priorities y on y.label_id = l.id and y.project_id = ?'
const SELECT = `select ${LABEL_COLUMNS} ${LABELS}`
/** The condition that a project with a namespace can use the label `l`. */
export const OF_PROJECT = '(l.project_id = ? or l.group_id = ?)'

/** Finds a label that a project can use, by its id. */
export const findLabelById = ({ id, namespace_id: group }: LabelPlace, labelId: number) =>
  row<LabelRow>(`${SELECT} where ${OF_PROJECT} and l.id = ?`, [id, id, group, labelId])

/** Finds labels that a project can use, by their titles. If both the project and its group have one, returns the label of the project. */
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

interface WithTitles {
  readonly items: readonly { readonly labels: readonly string[] }[]
}

/** Returns the labels of a page of records, by their titles. */
export const labelsIn = async (place: LabelPlace, { items }: WithTitles) => [
  ...(await findLabels(place, [...new Set(items.flatMap(({ labels }) => labels))]))
]

/** How many labels a form offers. */
const MOST_OFFERED = 200

/** Returns the first labels that a project can use, sorted by title. If both the project and its group have one, both are in the list. */
export const offeredLabels = ({ id, namespace_id: group }: LabelPlace): Promise<LabelRow[]> =>
  rows<LabelRow>(`${SELECT} where ${OF_PROJECT} order by l.title, l.id limit ${MOST_OFFERED}`, [id, id, group])

/** Locks a label of the project itself, and returns its current row. Call it first inside `transact`. */
export async function lockOwnLabel({ id }: Pick<LabelPlace, 'id'>, labelId: number): Promise<LabelRow | undefined> {
  await row('select id from labels where id = ? for update', [labelId])
  return row<LabelRow>(`${SELECT} where l.project_id = ? and l.id = ?`, [id, id, labelId])
}

/** Finds a label of the project itself, by its title. */
export const findOwnLabel = ({ id }: Pick<LabelPlace, 'id'>, title: string) =>
  row<LabelRow>(`${SELECT} where l.project_id = ? and l.title = ?`, [id, id, title])

/** A project or a group, with its path. */
export type LabelOwner =
  | { readonly kind: 'project'; readonly id: number; readonly namespace_id: number; readonly path: string }
  | { readonly kind: 'group'; readonly id: number; readonly path: string }

/** A label with the columns that only commands show. */
export interface CountedLabel extends LabelRow {
  /** The path of its group; null for a label of a project. */
  readonly group: string | null
  readonly issues: number
  readonly merge_requests: number
}

const uses = (type: TargetType) =>
  `(select count(*) from label_links k where k.label_id = l.id and k.target_type = '${type}')`
const COUNTED = `select ${LABEL_COLUMNS}, n.path as \`group\`, ${uses('Issue')} as issues, ${uses('MergeRequest')} as merge_requests
  ${LABELS} left join namespaces n on n.id = l.group_id`

/** Returns the labels of a project and of its group, or the labels of a group, sorted by title. */
export function listAllLabels(owner: LabelOwner): Promise<CountedLabel[]> {
  const [project, group] = owner.kind === 'group' ? [0, owner.id] : [owner.id, owner.namespace_id]
  return rows<CountedLabel>(`${COUNTED} where ${OF_PROJECT} order by l.title, l.id`, [project, project, group])
}

/** Finds a label of the project or group itself, by its title. Throws NoSuch. */
export async function requireOwnLabel({ kind, id }: LabelOwner, title: string): Promise<CountedLabel> {
  const project = kind === 'group' ? 0 : id
  const found = await row<CountedLabel>(`${COUNTED} where l.${kind}_id = ? and l.title = ?`, [project, id, title])
  if (!found) throw new NoSuch('label', title)
  return found
}
