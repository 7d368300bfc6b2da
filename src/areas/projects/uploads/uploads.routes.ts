import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { contentDisposition } from '../../../lib/disposition.js'
import { ProjectParams, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { mayBeDirect } from '../../../storage/direct-downloads.js'
import { readUpload, storeUpload } from './uploads.js'
import { Upload, viewUpload } from './uploads.view.js'

export const uploadRoutes: FastifyPluginAsyncTypebox = async app => {
  app.post(
    '/projects/:id/uploads',
    {
      config: { can: 'upload.create', streams: true, takesFile: true },
      schema: {
        tags: ['Projects'],
        summary: 'Upload a file to a project',
        description:
          'Send `multipart/form-data` with the file in `file`, and the credentials in a header or in the query. The setting `max_attachment_size` limits the size of a file. Everybody who can see the project can read the file.',
        params: ProjectParams,
        response: { 201: Upload },
        errors: [400, 413]
      }
    },
    async (request, reply) => {
      const key = await request.receiveFile(file => storeUpload(request.project, file))
      return reply.code(201).send(viewUpload(key))
    }
  )
}

/** Browsers display these types, and none of them can contain a script. Other files are downloads. */
const INLINE: { readonly [ending: string]: string } = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp'
}

const FileParams = Type.Object({
  namespace: Text('the namespace of the project', { maxLength: 255 }),
  project: Text('the path of the project', { maxLength: 255 }),
  secret: Text('32 hex digits', { maxLength: 32 }),
  name: Text('the name of the file', { maxLength: 255 })
})

/** The files themselves, below the pages of the projects. */
export const uploadedFileRoutes: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/:namespace/:project/uploads/:secret/:name',
    { config: { can: 'upload.read' }, schema: { hide: true, params: FileParams } as object },
    async (request, reply) => {
      const { secret, name } = request.params as { secret: string; name: string }
      const type = INLINE[/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '']
      // Pages show images, and their Content-Security-Policy allows none of another origin.
      const direct = type === undefined && mayBeDirect(request)
      const { size, stream } = await readUpload({ project: request.project.id, secret, name }, { direct })
      return reply
        .type(type ?? 'application/octet-stream')
        .headers({
          'content-length': String(size),
          'content-disposition': contentDisposition(type === undefined ? 'attachment' : 'inline', name),
          'content-security-policy': "default-src 'none'; sandbox",
          'x-content-type-options': 'nosniff',
          'cache-control': 'private, max-age=0, must-revalidate'
        })
        .send(stream)
    }
  )
}
