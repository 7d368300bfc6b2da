// What records of issues and merge requests show about labels, notes, votes and participants: columns that the statement of a
// page reads in addition to its rows. Measured for 20 issues on a busy machine, three rounds: the columns take 70 us more of the
// server and 580 us more of the database than the rows on their own; four statements take 220 and 640.
import { marks, padded, rows } from '../../../db/connect/sql.js'
import { TARGET_TABLES, type TargetType } from './targets.js'

/** The numbers of notes and votes. */
interface Counts {
  readonly user_notes_count: number
  readonly upvotes: number
  readonly downvotes: number
}

/** The columns in addition to the row of an issue `i` or a merge request `m`. */
export interface ShownColumns {
  /** Titles, in order, separated by line feeds; null for none. */
  readonly labels: string | null
  readonly user_notes_count: number | null
  /** `UP DOWN`; null for none. */
  readonly votes: string | null
  /** Whether the caller is subscribed: by choice, or by taking part. */
  readonly subscribed: number
}

/** Returns a subquery with one value for the record with this id, which is a column such as `i.id`. */
type Column = (type: TargetType, id: string) => string

const COLUMNS: { readonly [Name in Exclude<keyof ShownColumns, 'subscribed'>]: Column } = {
  // Decided: labels are sorted by code point. A title has no line feed.
  labels: (type, id) => `(select group_concat(l.title order by l.title separator '\\n') from label_links k
    straight_join labels l on l.id = k.label_id where k.target_type = '${type}' and k.target_id = ${id})`,
  user_notes_count: (type, id) => `(select count(*) from notes o straight_join users v on v.id = o.author_id
    where o.noteable_type = '${type}' and o.noteable_id = ${id} and not o.is_system)`,
  votes: (type, id) => `(select concat(sum(o.name = 'thumbsup'), ' ', sum(o.name = 'thumbsdown'))
    from award_emoji o straight_join users v on v.id = o.user_id
    where o.awardable_type = '${type}' and o.awardable_id = ${id} and o.name in ('thumbsup', 'thumbsdown'))`
}

/** The condition that a user takes part, but not as author or assignee. It has one placeholder, for the user. */
const takesPart: Column = (type, id) => `exists (select 1 from participants o
    where o.target_type = '${type}' and o.target_id = ${id} and o.user_id = ?)`

const ROWS = {
  Issue: { row: 'i', project: 'i.project_id' },
  MergeRequest: { row: 'm', project: 'm.target_project_id' }
} as const satisfies { readonly [Type in TargetType]: object }

/** Returns the columns for a statement with issues `i` or merge requests `m`. They contain placeholders for `shownValues`. */
export function shownColumns(type: TargetType): string {
  const { row, project } = ROWS[type]
  const id = `${row}.id`
  return `${Object.entries(COLUMNS)
    .map(([name, column]) => `${column(type, id)} as ${name}`)
    .join(', ')},
    coalesce((select b.subscribed from subscriptions b where b.target_type = '${type}' and b.target_id = ${id}
      and b.project_id = ${project} and b.user_id = ?), ${row}.author_id = ? or coalesce(${row}.assignee_id, 0) = ?
      or ${takesPart(type, id)}) as subscribed`
}

/** Returns the values of `shownColumns`. -1 stands for nobody, because no user has this id. */
export const shownValues = (userId = -1): number[] => Array.from({ length: 4 }, () => userId)

/** The values of the columns of a record. */
export interface Shown {
  readonly labels: readonly string[]
  readonly subscribed: boolean
  readonly counts: Counts
}

const NOTHING: Shown = {
  labels: [],
  subscribed: false,
  counts: { user_notes_count: 0, upvotes: 0, downvotes: 0 }
}

function shownOf({ labels, user_notes_count, votes, subscribed }: ShownColumns): Shown {
  const [upvotes = 0, downvotes = 0] = votes === null ? [] : votes.split(' ').map(Number)
  return {
    labels: labels === null ? [] : labels.split('\n'),
    subscribed: subscribed === 1,
    counts: { user_notes_count: user_notes_count ?? 0, upvotes, downvotes }
  }
}

/** A row whose statement may have read the columns. */
export interface Showing extends Partial<ShownColumns> {
  readonly id: number
}

/** Returns what each of the rows of a page shows: from its columns, or with one statement. */
export async function readShown(
  type: TargetType,
  page: readonly Showing[],
  userId?: number
): Promise<(row: Showing) => Shown> {
  if (page.every(hasColumns)) return row => (hasColumns(row) ? shownOf(row) : NOTHING)
  const list = padded(page.map(({ id }) => id))
  const { row: alias } = ROWS[type]
  const found = await rows<ShownColumns & { readonly id: number }>(
    `select ${alias}.id, ${shownColumns(type)} from ${TARGET_TABLES[type]} ${alias} where ${alias}.id in (${marks(list)})`,
    [...shownValues(userId), ...list]
  )
  const shown = new Map(found.map(each => [each.id, shownOf(each)]))
  return ({ id }) => shown.get(id) ?? NOTHING
}

const hasColumns = (row: Showing): row is Showing & ShownColumns => row.subscribed !== undefined
