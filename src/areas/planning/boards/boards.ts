// Boards: each project has one, and each of its lists shows the issues with one label.
import { duplicateKey } from '../../../db/connect/failure.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { NotFound, RefusedText, Taken } from '../../../errors.js'
import { holdProject } from '../../projects/projects/projects.queries.js'
import { findLabelById, type LabelPlace } from '../labels/labels.queries.js'
import { type BoardListRow, type BoardRow, findBoard, listLists, requireList } from './boards.queries.js'

/** Not specified: how a project gets its board. The first request for it creates it, without lists. */
export async function boardOf({ id: projectId }: { readonly id: number }): Promise<BoardRow> {
  const known = (await findBoard(projectId)) ?? (await makeBoard(projectId))
  return { id: known.id, lists: await listLists(known.id) }
}

const makeBoard = (projectId: number) =>
  transact(async () => {
    if (!(await holdProject(projectId))) throw new NotFound('Project')
    await execute('insert ignore into boards (project_id, created_at) values (?, ?)', [projectId, new Date()])
    const made = await findBoard(projectId)
    if (!made) throw new NotFound('Board')
    return made
  })

/** Adds a list for a label at the end of a board. Throws NotFound, RefusedText or Taken. */
export async function createList(project: LabelPlace, boardId: number, labelId: number): Promise<BoardListRow> {
  try {
    const id = await transact(async () => {
      await holdBoard(project.id, boardId)
      if (!(await findLabelById(project, labelId))) throw new RefusedText('Label not found!')
      const last = await row<{ next: number }>(
        'select coalesce(max(position) + 1, 0) as next from board_lists where board_id = ?',
        [boardId]
      )
      const { insertId } = await execute(
        'insert into board_lists (board_id, label_id, position, created_at) values (?, ?, ?, ?)',
        [boardId, labelId, last?.next ?? 0, new Date()]
      )
      return insertId
    })
    return await requireList(project.id, boardId, id)
  } catch (error) {
    throw duplicateKey(error) ? new Taken('label_id') : error
  }
}

/** Moves a list to another position. Throws NotFound, and RefusedText for the position that it has or one that does not exist. */
export async function moveList(
  project: { readonly id: number },
  boardId: number,
  listId: number,
  position: number
): Promise<BoardListRow> {
  await transact(async () => {
    await holdBoard(project.id, boardId)
    const list = await requireList(project.id, boardId, listId)
    const ids = (await listLists(boardId)).map(({ id }) => id)
    if (position < 0 || position >= ids.length || position === list.position) {
      throw new RefusedText('List could not be moved!')
    }
    const others = ids.filter(id => id !== listId)
    await order([...others.slice(0, position), listId, ...others.slice(position)])
  })
  return requireList(project.id, boardId, listId)
}

/** Removes a list, and returns it. Keeps its label. Throws NotFound. */
export function deleteList(project: { readonly id: number }, boardId: number, listId: number): Promise<BoardListRow> {
  return transact(async () => {
    await holdBoard(project.id, boardId)
    const list = await requireList(project.id, boardId, listId)
    await execute('delete from board_lists where id = ?', [listId])
    return list
  })
}

/** Locks the board, so that concurrent changes of its lists run one after the other. Throws NotFound. */
async function holdBoard(projectId: number, boardId: number): Promise<void> {
  const found = await row('select id from boards where project_id = ? and id = ?', [projectId, boardId])
  if (!found || !(await lockRow('boards', boardId))) throw new NotFound('Board')
}

/** Numbers lists in this order, with one statement. */
async function order(ids: readonly number[]): Promise<void> {
  await execute(
    `update board_lists set position = case id ${ids.map(() => 'when ? then ?').join(' ')} else position end
     where id in (${ids.map(() => '?').join(', ')})`,
    [...ids.flatMap((id, at) => [id, at]), ...ids]
  )
}
