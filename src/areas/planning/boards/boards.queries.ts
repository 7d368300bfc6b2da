import { row, rows } from '../../../db/connect/sql.js'
import { NotFound } from '../../../errors.js'

export interface BoardListRow {
  readonly id: number
  readonly position: number
  readonly label_id: number
  readonly label_title: string
  readonly label_color: string
  readonly label_description: string | null
}

export interface BoardRow {
  readonly id: number
  readonly lists: readonly BoardListRow[]
}

const SELECT = `select t.id, l.id as label_id, l.title as label_title, l.color as label_color, l.description as label_description,
  cast(row_number() over (order by t.position, t.id) - 1 as signed) as position
  from board_lists t join labels l on l.id = t.label_id where t.board_id = ?`

/** Returns the lists of a board, in order. Their positions count from 0 without gaps, even after a list was deleted with its label. */
export const listLists = (boardId: number): Promise<BoardListRow[]> =>
  rows<BoardListRow>(`${SELECT} order by t.position, t.id`, [boardId])

/** Returns the board of a project; undefined before the first request for it. */
export const findBoard = (projectId: number): Promise<{ readonly id: number } | undefined> =>
  row<{ id: number }>('select id from boards where project_id = ?', [projectId])

/** Returns the lists of the board of a project. Throws NotFound when the board does not belong to the project. */
export async function requireLists(projectId: number, boardId: number): Promise<BoardListRow[]> {
  const board = await findBoard(projectId)
  if (board?.id !== boardId) throw new NotFound('Board')
  return listLists(boardId)
}

/** Returns a list of the board of a project. Throws NotFound. */
export async function requireList(projectId: number, boardId: number, listId: number): Promise<BoardListRow> {
  const found = (await requireLists(projectId, boardId)).find(({ id }) => id === listId)
  if (!found) throw new NotFound()
  return found
}
