import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { finishListed, finishTodo } from '../../../areas/reach/todos/mark-done.js'
import { readTodos } from '../../../areas/reach/todos/readings.js'
import { listTodos } from '../../../areas/reach/todos/todos.queries.js'
import { TodoFilter, TodoListQuery, TodoParams } from '../../../areas/reach/todos/todos.schema.js'
import { viewTodo } from '../../../areas/reach/todos/todos.view.js'
import { backOf, show } from '../page-routes.js'

const PATH = '/dashboard/todos'

export const todoPages: FastifyPluginAsyncTypebox = async app => {
  const write = { can: 'todo.write' as const }

  app.get(PATH, { config: { can: 'todo.read' }, schema: { querystring: TodoListQuery } }, async (request, reply) => {
    const { query, actor } = request
    const page = await listTodos(query, actor)
    const todos = { ...page, items: (await readTodos(page.items, actor)).map(viewTodo) }
    return show(request, reply, 'account/todos', { title: 'To-dos', todos, query, actions: ACTIONS })
  })

  app.post(`${PATH}/:id/done`, { config: write, schema: { params: TodoParams } }, async (request, reply) => {
    await finishTodo(request.params.id, request.actor)
    return reply.redirect(backOf(request), 303)
  })

  app.post(`${PATH}/done`, { config: write, schema: { body: TodoFilter } }, async ({ body, actor }, reply) => {
    await finishListed(body, actor)
    return reply.redirect(PATH, 303)
  })
}

/** Why there is a to-do, after the name of its author. */
const ACTIONS: Readonly<Record<string, string>> = {
  assigned: 'assigned this to you',
  mentioned: 'mentioned you in',
  build_failed: 'caused a build that failed for',
  marked: 'added this to the list',
  approval_required: 'asks for your approval of'
}
