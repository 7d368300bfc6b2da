// "Board and board list".
import { described, IdOf, Integer, Nullable, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import type { BoardListRow, BoardRow } from './boards.queries.js'

const BoardLabel = Type.Object(
  {
    name: Text('the title'),
    color: Text('`#` with hex digits'),
    description: Nullable(Text('the purpose of the label'))
  },
  { title: 'BoardLabel', description: 'The label of a list.' }
)

export const BoardList = Type.Object(
  {
    id: IdOf('the list'),
    label: described(BoardLabel, 'the label; the list shows the issues with it'),
    position: Integer('the position, counted from 0')
  },
  { title: 'BoardList', description: 'A list of a board: the issues with a label.' }
)

export const Board = Type.Object(
  {
    id: IdOf('the board'),
    lists: Type.Array(BoardList, { description: 'the lists, in order; without those of open and closed issues' })
  },
  { title: 'Board', description: 'The issues of a project in lists, by their labels.' }
)

export const viewBoardList = ({
  id,
  position,
  label_title: name,
  label_color: color,
  label_description
}: BoardListRow) => ({
  id,
  label: { name, color, description: label_description },
  position
})

export const viewBoard = ({ id, lists }: BoardRow) => ({ id, lists: lists.map(viewBoardList) })
