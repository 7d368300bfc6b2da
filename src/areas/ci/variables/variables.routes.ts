import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { createVariable, deleteVariable, updateVariable } from './variables.js'
import { listVariables, requireVariable } from './variables.queries.js'
import { VariableBody, VariableChange, VariableListQuery, VariableParams, VariableQuery } from './variables.schema.js'
import { RemovedVariable, Variable, viewRemoved, viewVariable } from './variables.view.js'

export const variableRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'variable.administer' as const }
  const tags = ['Variables']
  const one = { tags, params: VariableParams, response: { 200: Variable }, errors: [409] as const }

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

  app.get(
    '/projects/:id/variables/:key',
    { config, schema: { ...one, querystring: VariableQuery, summary: 'Get a variable' } },
    async ({ project, params, query }) =>
      viewVariable(await requireVariable(project.id, params.key, query.filter?.environment_scope))
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
    { config, schema: { ...one, summary: 'Change a variable', body: VariableChange } },
    async ({ project, params, body: { filter, ...change }, origin }) => {
      const named = { key: params.key, scope: filter?.environment_scope }
      return viewVariable(await updateVariable(project, named, change, origin))
    }
  )

  app.delete(
    '/projects/:id/variables/:key',
    {
      config,
      schema: {
        ...one,
        querystring: VariableQuery,
        summary: 'Remove a variable',
        description: 'Also removes a variable whose value can no longer be decrypted. The answer then has no value.',
        response: { 200: RemovedVariable }
      }
    },
    async ({ project, params, query, origin }) => {
      const named = { key: params.key, scope: query.filter?.environment_scope }
      return viewRemoved(await deleteVariable(project, named, origin))
    }
  )
}
