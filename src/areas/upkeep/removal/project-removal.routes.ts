import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { removeProject } from './project-removal.js'

export const projectRemovalRoutes: FastifyPluginAsyncTypebox = async app => {
  app.delete(
    '/projects/:id',
    {
      config: { can: 'project.administer' },
      schema: {
        tags: ['Projects'],
        summary: 'Delete a project',
        description: 'The project disappears at once; a job removes its repository, builds and files.',
        params: ProjectParams,
        response: { 200: Type.Unsafe<true>({ type: 'boolean', description: 'true' }) }
      }
    },
    async ({ project, origin }) => {
      await removeProject(project, origin)
      return true as const
    }
  )
}
