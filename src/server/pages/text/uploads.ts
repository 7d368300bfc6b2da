// Attaches a file to a text: stores it as the API does, and shows the Markdown that puts it into the text.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { storeUpload } from '../../../areas/projects/uploads/uploads.js'
import { viewUpload } from '../../../areas/projects/uploads/uploads.view.js'
import { Type } from '../../../lib/type.js'
import { show } from '../page-routes.js'

const UploadQuery = Type.Object({ part: Type.Optional(Type.String({ maxLength: 1 })) })

export const uploadPages: FastifyPluginAsyncTypebox = async app => {
  const path = '/:namespace/:project/uploads/new'
  const config = { can: 'upload.create' as const }

  app.get(path, { config }, async (request, reply) => show(request, reply, 'text/upload', { title: 'Attach a file' }))

  app.post(
    path,
    { config: { ...config, streams: true, takesFile: true }, schema: { querystring: UploadQuery } },
    async (request, reply) => {
      const { markdown } = viewUpload(await request.receiveFile(file => storeUpload(request.project, file)))
      if (request.query.part !== undefined) return reply.type('text/plain; charset=utf-8').send(markdown)
      return show(request, reply.code(201), 'text/upload', { title: 'Attach a file', markdown })
    }
  )
}
