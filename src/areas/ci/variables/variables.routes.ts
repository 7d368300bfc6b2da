import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { createVariable, deleteVariable, updateVariable } from './variables.js'
import { listVariables, requireVariable } from './variables.queries.js'
import { VariableBody, VariableChange, VariableListQuery, VariableParams } from './variables.schema.js'
import { Variable, viewVariable } from './variables.view.js'

export const variableRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'variable.administer' as const }
  const tags = ['Variables']
  const one = { tags, params: VariableParams, response: { 200: Variable } }

  app.get(
    '/projects/:id/variables',
    {
      config,
      schema: {
        tags,
        summary: 'List the variables of a project',
        params: ProjectParams,
        querystring: VariableListQuery,
        response: { 200: Type.Array(Variable) }
      }
    },
    async ({ project, query }, reply) => reply.page(await listVariables(project.id, query), viewVariable)
  )

  app.get('/projects/:id/variables/:key', { config, schema: { ...one, summary: 'Get a variable' } }, async req =>
    viewVariable(await requireVariable(req.project.id, req.params.key))
  )

  app.post(
    '/projects/:id/variables',
    {
      config,
      schema: {
        tags,
        summary: 'Create a variable',
        description: 'Builds that start later receive it.',
        params: ProjectParams,
        body: VariableBody,
        response: { 201: Variable }
      }
    },
    async ({ project, body, origin }, reply) =>
      reply.code(201).send(viewVariable(await createVariable(project, body, origin)))
  )

  app.put(
    '/projects/:id/variables/:key',
    { config, schema: { ...one, summary: 'Change the value of a variable', body: VariableChange } },
    async ({ project, params, body, origin }) => viewVariable(await updateVariable(project, params.key, body, origin))
  )

  app.delete(
    '/projects/:id/variables/:key',
    { config, schema: { ...one, summary: 'Remove a variable' } },
    async ({ project, params, origin }) => {
      // Before it is deleted: a value that cannot be shown must not make the request fail after that.
      const shown = viewVariable(await requireVariable(project.id, params.key))
      await deleteVariable(project, params.key, origin)
      return shown
    }
  )
}
