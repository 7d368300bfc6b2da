import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { boardOf, createList, deleteList, moveList } from './boards.js'
import { requireList, requireLists } from './boards.queries.js'
import { BoardListBody, BoardListMove, BoardListParams, BoardParams } from './boards.schema.js'
import { Board, BoardList, viewBoard, viewBoardList } from './boards.view.js'

export const boardRoutes: FastifyPluginAsyncTypebox = async app => {
  const tags = ['Boards']
  const one = { tags, params: BoardListParams, response: { 200: BoardList } }

  app.get(
    '/projects/:id/boards',
    {
      config: { can: 'board.read' },
      schema: {
        tags,
        summary: 'List the boards of a project',
        description: 'Each project has one board.',
        params: ProjectParams,
        response: { 200: Type.Array(Board) }
      }
    },
    async ({ project }) => [viewBoard(await boardOf(project))]
  )

  app.get(
    '/projects/:id/boards/:board_id/lists',
    {
      config: { can: 'board.read' },
      schema: {
        tags,
        summary: 'List the lists of a board',
        params: BoardParams,
        response: { 200: Type.Array(BoardList) }
      }
    },
    async ({ project, params }) => (await requireLists(project.id, params.board_id)).map(viewBoardList)
  )

  app.get(
    '/projects/:id/boards/:board_id/lists/:list_id',
    { config: { can: 'board.read' }, schema: { ...one, summary: 'Get a list of a board' } },
    async ({ project, params }) => viewBoardList(await requireList(project.id, params.board_id, params.list_id))
  )

  app.post(
    '/projects/:id/boards/:board_id/lists',
    {
      config: { can: 'board.write' },
      schema: {
        tags,
        summary: 'Add a list to a board',
        description: 'The new list is the last one.',
        params: BoardParams,
        body: BoardListBody,
        response: { 201: BoardList }
      }
    },
    async ({ project, params, body }, reply) =>
      reply.code(201).send(viewBoardList(await createList(project, params.board_id, body.label_id)))
  )

  app.put(
    '/projects/:id/boards/:board_id/lists/:list_id',
    { config: { can: 'board.write' }, schema: { ...one, summary: 'Move a list of a board', body: BoardListMove } },
    async ({ project, params, body }) =>
      viewBoardList(await moveList(project, params.board_id, params.list_id, body.position))
  )

  app.delete(
    '/projects/:id/boards/:board_id/lists/:list_id',
    {
      config: { can: 'board.remove' },
      schema: { ...one, summary: 'Remove a list of a board', description: 'Keeps the label.' }
    },
    async ({ project, params }) => viewBoardList(await deleteList(project, params.board_id, params.list_id))
  )
}
