import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Actor, askerOf } from '../../../access/actor.js'
import { NotFound } from '../../../errors.js'
import { Integer } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { requireIssue } from '../../planning/issues/issues.queries.js'
import { requireMergeRequest } from '../../planning/merge-requests/merge-requests.queries.js'
import { finishListed, finishTodo } from './mark-done.js'
import { readTodos } from './readings.js'
import { markTodo } from './todos.js'
import { pageUnlessSent, requireTodo, type TodoRow } from './todos.queries.js'
import { IssueParams, MergeRequestParams, TodoFilter, TodoListQuery, TodoParams } from './todos.schema.js'
import { Todo, viewTodo, viewUnread } from './todos.view.js'

const TAGS = ['Todos']

async function show(todo: TodoRow, actor: Actor) {
  const [reading] = await readTodos([todo], actor)
  if (reading) return viewTodo(reading)
  // The change of the to-do has been stored, whether or not its commit can be read.
  if (todo.commit_id === null) throw new NotFound()
  return viewUnread(todo, todo.commit_id)
}

export const todoRoutes: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/todos',
    {
      config: { can: 'todo.read' },
      schema: {
        tags: TAGS,
        summary: 'List your to-dos',
        description:
          'Newest first, and only pending ones by default. Omits to-dos whose targets you can no longer read.',
        querystring: TodoListQuery,
        response: { 200: Type.Array(Todo) }
      }
    },
    async ({ query, actor }, reply) => {
      const page = await pageUnlessSent(query, actor, proof => reply.sendKept(proof))
      if (!page) return reply
      return reply.page({ ...page, items: await readTodos(page.items, actor) }, viewTodo)
    }
  )

  app.delete(
    '/todos/:id',
    {
      config: { can: 'todo.write' },
      schema: {
        tags: TAGS,
        operationId: 'finishTodo',
        summary: 'Mark a to-do as done',
        params: TodoParams,
        response: { 200: Todo }
      }
    },
    async ({ params, actor }) => show(await finishTodo(params.id, actor), actor)
  )

  app.delete(
    '/todos',
    {
      config: { can: 'todo.write' },
      schema: {
        tags: TAGS,
        operationId: 'finishTodos',
        summary: 'Mark your to-dos as done',
        description: 'Marks the to-dos that a list with the same filters shows.',
        querystring: TodoFilter,
        response: { 200: Integer('how many to-dos were marked as done') }
      }
    },
    async ({ query, actor }, reply) => reply.send(await finishListed(query, actor))
  )

  const marked = { tags: TAGS, response: { 201: Todo }, errors: [304] as const }

  app.post(
    '/projects/:id/issues/:issue_id/todo',
    {
      config: { can: 'issue.read' },
      schema: { ...marked, summary: 'Add an issue to your to-dos', params: IssueParams }
    },
    async ({ project, params, actor }, reply) => {
      const { id } = await requireIssue(project, params.issue_id, actor)
      const made = await markTodo({ type: 'Issue', id, projectId: project.id }, askerOf(actor).id)
      return reply.code(201).send(await show(await requireTodo(made, actor), actor))
    }
  )

  app.post(
    '/projects/:id/merge_requests/:merge_request_id/todo',
    {
      config: { can: 'merge_request.read' },
      schema: { ...marked, summary: 'Add a merge request to your to-dos', params: MergeRequestParams }
    },
    async ({ project, params, actor }, reply) => {
      const { id } = await requireMergeRequest(project.id, params.merge_request_id)
      const made = await markTodo({ type: 'MergeRequest', id, projectId: project.id }, askerOf(actor).id)
      return reply.code(201).send(await show(await requireTodo(made, actor), actor))
    }
  )
}
