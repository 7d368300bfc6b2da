import { IdOf, Integer, projectParam } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

const board = { ...projectParam, board_id: IdOf('the board') }

export const BoardParams = Type.Object(board)
export const BoardListParams = Type.Object({ ...board, list_id: IdOf('the list') })
export const BoardListBody = Type.Object(
  { label_id: IdOf('a label of the project or its group; the list shows the issues with it') },
  { title: 'BoardListBody', description: 'A new list of a board.' }
)
export type BoardListBody = Static<typeof BoardListBody>
export const BoardListMove = Type.Object(
  { position: Integer('the new position, counted from 0') },
  { title: 'BoardListMove', description: 'The new position of a list.' }
)
