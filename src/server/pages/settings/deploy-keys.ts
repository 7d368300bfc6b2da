import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addDeployKey, removeDeployKey } from '../../../areas/projects/ssh/deploy-keys.js'
import { listDeployKeysOf } from '../../../areas/projects/ssh/deploy-keys.queries.js'
import { DeployKeyBody } from '../../../areas/projects/ssh/deploy-keys.schema.js'
import { Type } from '../../../lib/type.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { settingsPath, showSettings } from './menu.js'

const KeyParams = Type.Object({ key_id: Type.Integer() })

export const deployKeyPages: FastifyPluginAsyncTypebox = async app => {
  const all = '/:namespace/:project/settings/deploy_keys'
  const config = { can: 'deploy_key.administer' as const }

  app.get(all, { config }, (request, reply) => showKeys(request, reply))

  app.post(all, { config, schema: { body: DeployKeyBody } }, async (request, reply) => {
    try {
      await addDeployKey(request.project, request.body, request.origin)
      return reply.redirect(pathOf(request), 303)
    } catch (error) {
      return showKeys(request, reply.code(400), request.body, refusalsOf(error))
    }
  })

  app.post(`${all}/:key_id/remove`, { config, schema: { params: KeyParams } }, async (request, reply) => {
    await removeDeployKey(request.project, request.params.key_id, request.origin)
    return reply.redirect(pathOf(request), 303)
  })
}

const pathOf = (request: FastifyRequest) => `${settingsPath(request)}/deploy_keys`

const showKeys = async (request: FastifyRequest, reply: FastifyReply, entered: object = {}, refusals?: Refusals) =>
  showSettings(request, reply, 'deploy-keys', {
    title: 'Deploy keys',
    keys: await listDeployKeysOf(request.project.id),
    action: pathOf(request),
    entered,
    refusals
  })
