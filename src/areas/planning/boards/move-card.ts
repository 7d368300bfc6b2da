// Moves an issue from one list of a board to another: its label changes, and it is closed or reopened.
import type { Actor } from '../../../access/actor.js'
import { NotFound } from '../../../errors.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { updateIssue } from '../issues/issues.js'
import { requireNumberedIssue } from '../issues/issues.queries.js'
import type { Column } from './board-cards.queries.js'
import type { BoardListRow } from './boards.queries.js'

interface Move {
  readonly iid: number
  readonly from: Column
  readonly to: Column
}

/** Moves the card of an issue. Throws NotFound, and Forbidden when the user may not change the issue. */
export async function moveCard(
  project: ProjectRow,
  lists: readonly BoardListRow[],
  { iid, from, to }: Move,
  actor: Actor
): Promise<void> {
  const { id } = await requireNumberedIssue(project, iid, actor)
  const [removed, added] = [titleOf(lists, from), titleOf(lists, to)]
  const labels = (titles: readonly string[]) => [
    ...titles.filter(title => title !== removed && title !== added),
    ...(added === undefined ? [] : [added])
  ]
  const event = to === 'closed' ? 'close' : from === 'closed' ? 'reopen' : undefined
  await updateIssue(project, id, { labels, ...(event && { state_event: event }) }, actor)
}

/** Returns the title of the label of a list; undefined for a list without a label. */
function titleOf(lists: readonly BoardListRow[], column: Column): string | undefined {
  if (typeof column === 'string') return undefined
  const list = lists.find(({ id }) => id === column)
  if (!list) throw new NotFound('List')
  return list.label_title
}
