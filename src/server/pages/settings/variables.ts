// The variables that builds of a project get.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { MASKED_AS_BEFORE } from '../../../areas/ci/variables/hidden-values.js'
import { createVariable, deleteVariable, updateVariable } from '../../../areas/ci/variables/variables.js'
import { listVariables, requireVariable, type VariableRow } from '../../../areas/ci/variables/variables.queries.js'
import { VariableBody, VariableListQuery } from '../../../areas/ci/variables/variables.schema.js'
import { viewRemoved } from '../../../areas/ci/variables/variables.view.js'
import { Type } from '../../../lib/type.js'
import { path } from '../components.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { settingsPath, showSettings } from './menu.js'

const { key: _, ...change } = VariableBody.properties
/** The scope is that of the variable before the change. */
const Scope = Type.Object({ scope: Type.Optional(Type.String({ maxLength: 255 })) })
const Change = Type.Object({ ...change, ...Scope.properties })
const KeyParams = Type.Object({ key: Type.String({ maxLength: 255 }) })

export const variablePages: FastifyPluginAsyncTypebox = async app => {
  const all = '/:namespace/:project/settings/variables'
  const one = `${all}/:key`
  const config = { can: 'variable.administer' as const }
  const params = KeyParams

  app.get(all, { config, schema: { querystring: VariableListQuery } }, (request, reply) =>
    showVariables(request, reply, request.query)
  )

  app.post(all, { config, schema: { body: VariableBody } }, async (request, reply) => {
    try {
      await createVariable(request.project, request.body, request.origin)
      return reply.redirect(pathOf(request), 303)
    } catch (error) {
      return showVariables(request, reply.code(400), {}, request.body, refusalsOf(error))
    }
  })

  app.get(one, { config, schema: { params, querystring: Scope } }, async (request, reply) =>
    showVariable(request, reply, await requireVariable(request.project.id, request.params.key, request.query.scope))
  )

  app.post(one, { config, schema: { params, body: Change } }, async (request, reply) => {
    const { project, params, origin } = request
    const { scope, ...body } = request.body
    const found = await requireVariable(project.id, params.key, scope)
    try {
      await updateVariable(project, { key: params.key, scope: found.environment_scope }, body, origin)
      return reply.redirect(pathOf(request), 303)
    } catch (error) {
      return showVariable(request, reply.code(400), found, body, refusalsOf(error))
    }
  })

  app.post(`${one}/delete`, { config, schema: { params, body: Scope } }, async (request, reply) => {
    const { project, params, body, origin } = request
    await deleteVariable(project, { key: params.key, scope: body.scope }, origin)
    return reply.redirect(pathOf(request), 303)
  })
}

const pathOf = (request: FastifyRequest) => `${settingsPath(request)}/variables`

async function showVariables(
  request: FastifyRequest,
  reply: FastifyReply,
  query: { readonly page?: number },
  entered: object = {},
  refusals?: Refusals
) {
  const page = await listVariables(request.project.id, query)
  return showSettings(request, reply, 'variables', {
    title: 'Variables',
    page,
    // A value that cannot be decrypted any more must not hide the others.
    variables: page.items.map(viewRemoved),
    action: pathOf(request),
    values: entered,
    refusals
  })
}

function showVariable(
  request: FastifyRequest,
  reply: FastifyReply,
  row: VariableRow,
  entered: object = {},
  refusals?: Refusals
) {
  const isChosen = row.masked !== null && row.masked !== MASKED_AS_BEFORE
  const { masked, ...variable } = viewRemoved(row)
  return showSettings(request, reply, 'variable', {
    title: 'Edit a variable',
    row,
    action: pathOf(request) + path(row.name),
    values: { ...variable, ...(isChosen && { masked }), ...entered },
    isLost: !('value' in variable),
    refusals
  })
}
