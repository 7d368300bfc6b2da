// The issues that the lists of a board show.
import type { Actor } from '../../../access/actor.js'
import { type Fragment, marks, padded, rows } from '../../../db/connect/sql.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { findIssues, type ListedIssueRow } from '../issues/issues.queries.js'
import { visibleIssues } from '../participation/visible-issues.js'
import type { BoardListRow } from './boards.queries.js'

/** A list of a board, or one of the two that every board has: the open issues without a list, and the closed ones. */
export type Column = number | 'opened' | 'closed'

/** The number of issues that a list shows. */
export const CARDS = 20

/** Returns the newest issues of each list that the caller may see, one more than CARDS where there are more: with two statements. */
export async function listCards(
  project: ProjectRow,
  lists: readonly BoardListRow[],
  actor: Actor
): Promise<(column: Column) => ListedIssueRow[]> {
  const visible = visibleIssues(project, actor)
  const parts = [
    openCards(project, lists, visible),
    ...lists.map(list => cardsOf(project, list, visible)),
    closedCards(project, visible)
  ]
  const found = await rows<{ place: number; id: number }>(
    parts.map(({ sql }) => `(${sql} limit ${CARDS + 1})`).join(' union all '),
    parts.flatMap(({ values }) => values)
  )
  const issues = new Map(
    (await findIssues([...new Set(found.map(({ id }) => id))], actor)).map(each => [each.id, each])
  )
  return column =>
    found
      .filter(({ place }) => place === PLACES[column as 'opened'] || place === column)
      .flatMap(({ id }) => issues.get(id) ?? [])
}

/** Stand for lists that have no id. */
const PLACES = { opened: 0, closed: -1 } as const

function cardsOf({ id }: ProjectRow, { id: list, label_id: label }: BoardListRow, visible: Fragment): Fragment {
  return {
    sql: `select ${list} as place, i.id from label_links k force index (label_links_place) straight_join issues i on i.id = k.target_id
      where k.label_id = ? and k.target_type = 'Issue' and k.of_project = ? and i.is_open and ${visible.sql}
      order by k.of_created_at desc, k.target_id desc`,
    values: [label, id, ...visible.values]
  }
}

function openCards({ id }: ProjectRow, lists: readonly BoardListRow[], visible: Fragment): Fragment {
  const labels = padded(lists.length === 0 ? [0] : lists.map(({ label_id: label }) => label))
  return {
    sql: `select ${PLACES.opened} as place, i.id from issues i force index (issues_open_created)
      where i.project_id = ? and i.is_open = true and ${visible.sql} and not exists
        (select 1 from label_links k where k.target_type = 'Issue' and k.target_id = i.id and k.label_id in (${marks(labels)}))
      order by i.created_at desc, i.id desc`,
    values: [id, ...visible.values, ...labels]
  }
}

function closedCards({ id }: ProjectRow, visible: Fragment): Fragment {
  return {
    sql: `select ${PLACES.closed} as place, i.id from issues i force index (issues_open_updated)
      where i.project_id = ? and i.is_open = false and ${visible.sql} order by i.updated_at desc, i.id desc`,
    values: [id, ...visible.values]
  }
}
