import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NotFound } from '../../../errors.js'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { addDeployKey, enableDeployKey, removeDeployKey } from './deploy-keys.js'
import { findDeployKey, listDeployKeys, listDeployKeysOf } from './deploy-keys.queries.js'
import { DeployKeyBody, DeployKeyParams } from './deploy-keys.schema.js'
import { DeployKey, RemovedDeployKey, viewDeployKey, viewRemovedDeployKey } from './deploy-keys.view.js'

const TAGS = ['Deploy keys']

export const deployKeyRoutes: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/deploy_keys',
    {
      config: { can: 'deploy_key.list_all' },
      schema: { tags: TAGS, summary: 'List the deploy keys of all projects', response: { 200: Type.Array(DeployKey) } }
    },
    async () => (await listDeployKeys()).map(viewDeployKey)
  )
  await app.register(projectKeyRoutes('deploy_keys'))
  // "Deploy keys": every path has a second name.
  await app.register(projectKeyRoutes('keys'))
}

const projectKeyRoutes =
  (name: 'deploy_keys' | 'keys'): FastifyPluginAsyncTypebox =>
  async app => {
    const config = { can: 'deploy_key.administer' as const }
    const path = `/projects/:id/${name}`

    app.get(
      path,
      {
        config,
        schema: {
          tags: TAGS,
          summary: 'List the deploy keys of a project',
          params: ProjectParams,
          response: { 200: Type.Array(DeployKey) }
        }
      },
      async ({ project }) => (await listDeployKeysOf(project.id)).map(viewDeployKey)
    )

    app.get(
      `${path}/:key_id`,
      {
        config,
        schema: {
          tags: TAGS,
          summary: 'Get a deploy key of a project',
          params: DeployKeyParams,
          response: { 200: DeployKey }
        }
      },
      async ({ project, params }) => {
        const found = await findDeployKey(project.id, params.key_id)
        if (!found) throw new NotFound()
        return viewDeployKey(found)
      }
    )

    app.post(
      path,
      {
        config,
        schema: {
          tags: TAGS,
          summary: 'Add a deploy key to a project',
          description:
            'Returns a key that the project already has unchanged. A public key, or a key of another project where you are a master, is enabled here with its existing rights.',
          params: ProjectParams,
          body: DeployKeyBody,
          response: { 201: DeployKey }
        }
      },
      async ({ project, body, origin }, reply) =>
        reply.code(201).send(viewDeployKey(await addDeployKey(project, body, origin)))
    )

    app.post(
      `${path}/:key_id/enable`,
      {
        config,
        schema: {
          tags: TAGS,
          summary: 'Enable a deploy key of another project',
          description: 'The key must be public, or belong to a project where you are a master.',
          params: DeployKeyParams,
          response: { 201: DeployKey }
        }
      },
      async ({ project, params, origin }, reply) =>
        reply.code(201).send(viewDeployKey(await enableDeployKey(project, params.key_id, origin)))
    )

    app.delete(
      `${path}/:key_id/disable`,
      {
        config,
        schema: {
          tags: TAGS,
          summary: 'Disable a deploy key in a project',
          description: 'Deletes a private key that no project uses any more.',
          params: DeployKeyParams,
          response: { 200: DeployKey }
        }
      },
      async ({ project, params, origin }) => viewDeployKey((await removeDeployKey(project, params.key_id, origin)).key)
    )

    app.delete(
      `${path}/:key_id`,
      {
        config,
        schema: {
          tags: TAGS,
          summary: 'Remove a deploy key from a project',
          description: 'Deletes a private key that no project uses any more.',
          params: DeployKeyParams,
          response: { 200: RemovedDeployKey }
        }
      },
      async ({ project, params, origin }) =>
        viewRemovedDeployKey((await removeDeployKey(project, params.key_id, origin)).link)
    )
  }
