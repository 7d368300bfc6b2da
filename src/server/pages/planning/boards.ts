// The board of a project: its issues in columns, by their labels.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { may } from '../../../access/authorize.js'
import { CARDS, type Column, listCards } from '../../../areas/planning/boards/board-cards.queries.js'
import { boardOf, createList, deleteList, moveList } from '../../../areas/planning/boards/boards.js'
import { type BoardListRow, findBoard, listLists, requireLists } from '../../../areas/planning/boards/boards.queries.js'
import { moveCard } from '../../../areas/planning/boards/move-card.js'
import { readIssues } from '../../../areas/planning/issues/issue-readings.js'
import { findLabels, offeredLabels } from '../../../areas/planning/labels/labels.queries.js'
import { Type } from '../../../lib/type.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'

/** The number of lists that a board shows. */
const LISTS = 20

const BoardId = Type.Object({ board: Type.Integer() })
const ListId = Type.Object({ list: Type.Integer() })
const NewList = Type.Object({ label_id: Type.Integer() })
const ListMove = Type.Object({ position: Type.Integer() })
/** The id of a list, or the name of one that every board has. */
const column = Type.String({ pattern: '^(\\d{1,10}|opened|closed)$' })
const CardMove = Type.Object({ iid: Type.Integer(), from: column, to: column })

export const boardPages: FastifyPluginAsyncTypebox = async app => {
  const all = '/:namespace/:project/boards'
  const read = { can: 'board.read' as const }
  const write = { can: 'board.write' as const }

  app.get(all, { config: read }, async (request, reply) => {
    const board = await findBoard(request.project.id)
    return showBoard(request, reply, board ? await listLists(board.id) : [])
  })

  app.get(`${all}/:board`, { config: read, schema: { params: BoardId } }, async (request, reply) =>
    showBoard(request, reply, await requireLists(request.project.id, request.params.board))
  )

  app.post(`${all}/lists`, { config: write, schema: { body: NewList } }, async (request, reply) => {
    const { id } = await boardOf(request.project)
    await createList(request.project, id, request.body.label_id)
    return reply.redirect(basePath(request), 303)
  })

  app.post(
    `${all}/lists/:list/move`,
    { config: write, schema: { params: ListId, body: ListMove } },
    async (request, reply) => {
      const { project, params, body } = request
      await moveList(project, (await boardOf(project)).id, params.list, body.position)
      return reply.redirect(basePath(request), 303)
    }
  )

  app.post(
    `${all}/lists/:list/delete`,
    { config: { can: 'board.remove' }, schema: { params: ListId } },
    async (request, reply) => {
      await deleteList(request.project, (await boardOf(request.project)).id, request.params.list)
      return reply.redirect(basePath(request), 303)
    }
  )

  app.post(`${all}/cards`, { config: { can: 'issue.plan' }, schema: { body: CardMove } }, async (request, reply) => {
    const { project, actor, body } = request
    const { lists } = await boardOf(project)
    await moveCard(project, lists, { iid: body.iid, from: columnOf(body.from), to: columnOf(body.to) }, actor)
    return reply.redirect(basePath(request), 303)
  })
}

const basePath = ({ project }: FastifyRequest) => `${projectPath(project)}/boards`

const columnOf = (text: string): Column => (text === 'opened' || text === 'closed' ? text : Number(text))

async function showBoard(
  request: FastifyRequest,
  reply: FastifyReply,
  all: readonly BoardListRow[]
): Promise<FastifyReply> {
  const { project, actor } = request
  const lists = all.slice(0, LISTS)
  const mayWrite = may(actor, 'board.write', project)
  const [cardsIn, offered] = await Promise.all([
    listCards(project, lists, actor),
    mayWrite ? offeredLabels(project) : []
  ])
  const used = new Set(all.map(({ label_id: id }) => id))
  const columns = [
    { column: 'opened' as const, title: 'Open' },
    ...lists.map(list => ({ column: list.id, title: list.label_title, list })),
    { column: 'closed' as const, title: 'Closed' }
  ].map(each => ({ ...each, issues: cardsIn(each.column) }))
  const readings = new Map(
    (await readIssues([...new Set(columns.flatMap(({ issues }) => issues))], actor)).map(each => [each.issue.id, each])
  )
  const titles = [...new Set([...readings.values()].flatMap(({ labels }) => labels))]
  return show(request, reply, 'planning/board', {
    title: 'Board',
    columns: columns.map(each => ({
      ...each,
      hasMore: each.issues.length > CARDS,
      cards: each.issues.slice(0, CARDS).flatMap(({ id }) => readings.get(id) ?? [])
    })),
    labels: await findLabels(project, titles),
    cut: all.length > LISTS ? LISTS : null,
    offered: offered.filter(({ id }) => !used.has(id)),
    mayWrite,
    mayRemove: may(actor, 'board.remove', project),
    mayPlan: may(actor, 'issue.plan', project),
    base: basePath(request),
    issuesPath: `${projectPath(project)}/issues`
  })
}
